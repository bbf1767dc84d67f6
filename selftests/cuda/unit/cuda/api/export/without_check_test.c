// SPDX-License-Identifier: MIT
/* The tables of a package without check.c. */
#define WITHOUT_CHECK
#include "tables_test.c"
