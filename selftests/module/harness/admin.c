// SPDX-License-Identifier: GPL-2.0-only
/* admin.h has the contracts. */
#include "selftests/module/harness/admin.h"
#include "selftests/module/harness/world.h"

static struct device *dev_of(u32 vgpu)
{
	return vgpu == CARD ? &world.pdev.dev : &world.vgpu[vgpu].mdev->dev;
}

static struct device_attribute *sysfs_file(u32 vgpu, const char *name)
{
	const struct attribute_group **g = vgpu == CARD ? the_pci_driver->dev_groups :
							  the_mdev_driver->driver.dev_groups;
	struct attribute **a;

	for (a = g[0]->attrs; *a; a++)
		if (!strcmp((*a)->name, name))
			return container_of(*a, struct device_attribute, attr);
	harness_fail("sysfs has no file %s", name);
}

u64 admin_read(u32 vgpu, const char *file)
{
	struct device_attribute *d = sysfs_file(vgpu, file);
	char buf[PAGE_SIZE];

	FAIL_ON(d->show(dev_of(vgpu), d, buf) < 0, "%s can't be read", file);
	return strtoull(buf, NULL, 10);
}

void admin_write(u32 vgpu, const char *file, const char *text)
{
	struct device_attribute *d = sysfs_file(vgpu, file);

	FAIL_ON(d->store(dev_of(vgpu), d, text, strlen(text)) != strlen(text), "%s can't be %s",
		file, text);
}

struct admin_place admin_place(u32 vgpu)
{
	const char *name = dev_name(dev_of(vgpu));
	const char *at = strstr(debugfs_text(pci_name(&world.pdev), "vgpus"), name);
	struct admin_place p;

	FAIL_ON(!at || sscanf(at + strlen(name),
			      " %*s %*s partition 0x%llx bar1 0x%llx bar3 0x%llx pramin 0x%llx",
			      &p.part, &p.bar1, &p.bar3, &p.pramin) != 4,
		"debugfs does not tell where vGPU %u is", vgpu);
	return p;
}

struct admin_chan admin_chan(u32 vgpu, u32 chan)
{
	const char *at = debugfs_text(dev_name(dev_of(vgpu)), "channels"), *end;
	struct admin_chan c;
	unsigned int guest;

	for (; *at; at = end + 1) {
		end = strchr(at, '\n');
		FAIL_ON(sscanf(at,
			       "guest %u chip %u runlist %*u -> %*u instance %*u:0x%*x shadow 0x%llx tsg %*d -> %d",
			       &guest, &c.id, &c.inst, &c.tsg) != 4,
			"a channel in debugfs is \"%s\"", at);
		c.bound = true;
		c.lives = !memmem(at, end - at, " dead", 5);
		if (guest == chan)
			return c;
	}
	return (struct admin_chan){};
}

bool admin_chan_lives(u32 vgpu, u32 chan)
{
	return admin_chan(vgpu, chan).lives;
}

u64 admin_word(u32 vgpu, const char *file, const char *word)
{
	const char *at = strstr(debugfs_text(dev_name(dev_of(vgpu)), file), word);

	FAIL_ON(!at, "%s in debugfs has no \"%s\"", file, word);
	return strtoull(at + strlen(word), NULL, 0);
}
