// SPDX-License-Identifier: GPL-2.0-only
/* What a class does with a method: keep its argument as state, act, or refuse it. */
#include "gr.h"

static const struct gr_actions *const actions[GR_NR_CLASS][6] = {
	[GR_3D] = { &gr_actions_common, &gr_actions_3d, &gr_actions_upload, &gr_actions_report,
		    &gr_actions_mme },
	[GR_COMPUTE] = { &gr_actions_common, &gr_actions_compute, &gr_actions_upload,
			 &gr_actions_report },
	[GR_I2M] = { &gr_actions_common, &gr_actions_upload },
	[GR_2D] = { &gr_actions_common, &gr_actions_2d, &gr_actions_mme },
};

static const struct gr_action *find_action(enum gr_class cls, uint32_t mthd)
{
	for (unsigned int i = 0; actions[cls][i]; i++) {
		const struct gr_actions *a = actions[cls][i];

		for (unsigned int j = 0; j < a->nr; j++) {
			const struct gr_action *e = &a->table[j];

			if (mthd >= e->first && mthd <= e->last &&
			    (mthd - e->first) % e->stride == 0)
				return e;
		}
	}
	return NULL;
}

bool gr_method_acts(enum gr_class cls, uint32_t mthd)
{
	return find_action(cls, mthd) != NULL;
}

enum eng_ret gr_class_method(struct gr_exec *x)
{
	const struct gr_action *a = find_action(x->cls, x->mthd);
	unsigned int word;

	if (state_word(x->cls, x->mthd, &word))
		strand_set(x->gr, word, x->data);
	else if (!a)
		return trap_illegal_method(x);
	return a ? a->run(x) : ENG_DONE;
}
