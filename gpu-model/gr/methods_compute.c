// SPDX-License-Identifier: GPL-2.0-only
/* Class A1C0: launches (launch.c) and firmware methods. */
#include "gr.h"

static enum eng_ret firmware_method(struct gr_exec *x)
{
	fecs_firmware_method(x);
	return ENG_DONE;
}

/* SEND_PCAS_B, the form without a signal. Open: its effect; the model refuses it. */
static enum eng_ret pcas_unsignalled(struct gr_exec *x)
{
	return trap_illegal_method(x);
}

static const struct gr_action table[] = {
	{ M_SEND_PCAS_B, M_SEND_PCAS_B, 4, pcas_unsignalled },
	{ M_SEND_SIGNALING_PCAS_B, M_SEND_SIGNALING_PCAS_B, 4, launch_pcas },
	{ M_COMPUTE_SET_FALCON, M_COMPUTE_SET_FALCON + 4 * (M_FALCON_COUNT - 1), 4,
	  firmware_method },
};
const struct gr_actions gr_actions_compute = { table, sizeof(table) / sizeof(table[0]) };
