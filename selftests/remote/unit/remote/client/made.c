// SPDX-License-Identifier: MIT
/* What remote/api.py and ../server/fake.py make for the client. */
#include "stubs.c"

#include "fake_calls.c"
