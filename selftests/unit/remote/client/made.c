// SPDX-License-Identifier: MIT
/* What remote/api.py and ../server/fake.py make of remote/api.def for the client. */
#include "stubs.c"

#include "fake_calls.c"
