#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""nova.py NOVA SCHEMAS: Nova's own functions for vGPUs (NOVA: Debian's python3-nova and what it imports, unpacked) on a sysfs that
nova.sh has put in place of /sys. Two things are stand-ins: libvirt, which here makes XML of node devices from /sys (checked by
libvirt's own SCHEMAS), and the kernel, which makes a vGPU of what is written to "create". TAP."""
import os
import re
import subprocess
import sys
import types

sys.path.insert(0, sys.argv[1] + "/usr/lib/python3/dist-packages")
sys.dont_write_bytecode = True

from oslo_config import cfg  # noqa: E402
import nova.conf  # noqa: E402
import nova.privsep  # noqa: E402
from nova.virt.libvirt import config as vconfig  # noqa: E402
from nova.virt.libvirt import driver, host  # noqa: E402

CARD, PCI = "0000:01:00.0", "pci_0000_01_00_0"
TYPE = "kvgpu-512m"
results = []


def check(ok, what, detail=""):
    results.append(bool(ok))
    print(f"{'ok' if ok else 'not ok'} {len(results)} - {what}{f' # {detail}' if detail and not ok else ''}", flush=True)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


# ------------------------------------------------------------------ the kernel

def kernel():
    """Make vGPUs of the UUIDs that were written to "create", as mdev_register_parent()'s files do."""
    device = f"/sys/class/mdev_bus/{CARD}"
    for kind in os.listdir(f"{device}/mdev_supported_types"):
        create = f"{device}/mdev_supported_types/{kind}/create"
        uuid = read(create)
        if uuid:
            # cloud_vgpu of cloud-sysfs.sh is the one place that knows what a vGPU's folder has
            here = os.path.dirname(os.path.realpath(__file__))
            subprocess.run(["bash", "-c", '. "$0"; cloud_vgpu /sys "$@"', f"{here}/cloud-sysfs.sh", CARD, uuid,
                            kind.removeprefix("kvgpu-")], check=True)
            open(create, "w", encoding="utf-8").close()
            room(kind, -1)


def room(kind, more):
    path = f"/sys/class/mdev_bus/{CARD}/mdev_supported_types/{kind}/available_instances"
    left = int(read(path)) + more
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{left}\n")


# ------------------------------------------------------------------ libvirt

class LibvirtError(Exception):
    def get_error_code(self):
        return libvirt.VIR_ERR_NO_NODE_DEVICE


libvirt = types.SimpleNamespace(libvirtError=LibvirtError, VIR_ERR_NO_NODE_DEVICE=53, VIR_ERR_NO_SUPPORT=3)


class NodeDevice:
    def __init__(self, xml):
        self.xml = xml

    def XMLDesc(self, flags):
        return self.xml


def pci_xml():
    device = f"/sys/bus/pci/devices/{CARD}"
    kinds = "".join(f"<type id='{kind}'><name>{read(f'{path}/name')}</name><deviceAPI>{read(f'{path}/device_api')}</deviceAPI>"
                    f"<availableInstances>{read(f'{path}/available_instances')}</availableInstances></type>"
                    for kind in sorted(os.listdir(f"{device}/mdev_supported_types"))
                    for path in [f"{device}/mdev_supported_types/{kind}"])
    return f"""<device><name>{PCI}</name><path>{os.path.realpath(device)}</path><parent>computer</parent>
<driver><name>{os.path.basename(os.readlink(f'{device}/driver'))}</name></driver>
<capability type='pci'><class>{read(f'{device}/class')}</class><domain>0</domain><bus>1</bus><slot>0</slot><function>0</function>
<product id='{read(f'{device}/device')}'/><vendor id='{read(f'{device}/vendor')}'/>
<capability type='mdev_types'>{kinds}</capability>
<iommuGroup number='{os.path.basename(os.readlink(f'{device}/iommu_group'))}'><address domain='0x0000' bus='0x01' slot='0x00' function='0x0'/></iommuGroup>
</capability></device>"""


def mdev_name(uuid):
    return f"mdev_{uuid.replace('-', '_')}_{PCI.removeprefix('pci_')}"


def mdev_xml(uuid):
    device = f"/sys/bus/mdev/devices/{uuid}"
    return f"""<device><name>{mdev_name(uuid)}</name><path>{os.path.realpath(device)}</path><parent>{PCI}</parent>
<driver><name>vfio_mdev</name></driver><capability type='mdev'><type id='{os.path.basename(os.readlink(f'{device}/mdev_type'))}'/>
<uuid>{uuid}</uuid><iommuGroup number='{os.path.basename(os.readlink(f'{device}/iommu_group'))}'/></capability></device>"""


class Connection:
    def devices(self, cap):
        if cap == "mdev_types":
            return {PCI: pci_xml}
        return {mdev_name(uuid): lambda uuid=uuid: mdev_xml(uuid) for uuid in sorted(os.listdir("/sys/bus/mdev/devices"))}

    def listDevices(self, cap, flags):
        kernel()
        return list(self.devices(cap))

    def nodeDeviceLookupByName(self, name):
        kernel()
        for cap in ("mdev_types", "mdev"):
            if name in self.devices(cap):
                return NodeDevice(self.devices(cap)[name]())
        raise LibvirtError(f"no node device {name}")


class Guest:
    uuid = "aaaaaaaa-0000-4000-8000-000000000001"

    def __init__(self, *mdevs):
        self.mdevs = mdevs

    def get_config(self):
        return types.SimpleNamespace(devices=[guest_device(uuid) for uuid in self.mdevs])


def guest_device(uuid):
    device = vconfig.LibvirtConfigGuestHostdevMDEV()
    device.uuid = uuid
    return device


# ------------------------------------------------------------------ Nova

def start_compute(*guests):
    """What nova-compute does for vGPUs when it starts, without what needs its database and its message bus."""
    compute = object.__new__(driver.LibvirtDriver)
    compute._host = object.__new__(host.Host)
    compute._host.get_connection = Connection
    compute._host.list_guests = lambda only_running=True: list(guests)
    compute.pgpu_type_mapping, compute.mdev_class_mapping, compute.mdev_classes = {}, {}, set()
    compute.supported_vgpu_types = compute._get_supported_vgpu_types()
    compute._recreate_assigned_mediated_devices()
    return compute


def validates(xml, schema):
    done = subprocess.run(["xmllint", "--noout", "--relaxng", f"{sys.argv[2]}/usr/share/libvirt/schemas/{schema}.rng", "-"],
                          input=xml, capture_output=True, text=True, check=False)
    return done.returncode == 0 or print("#", done.stderr.strip().splitlines()[0])


def test_types(compute):
    found = compute._get_mdev_capable_devices()
    path = f"/sys/class/mdev_bus/{CARD}/mdev_supported_types"
    want = {kind: {"availableInstances": int(read(f"{path}/{kind}/available_instances")), "name": read(f"{path}/{kind}/name"),
                   "deviceAPI": "vfio-pci"} for kind in os.listdir(path)}
    check(len(found) == 1 and found[0]["dev_id"] == PCI and found[0]["vendor_id"] == 0x10de, "the card is found")
    check(len(want) == 4 and found[0]["types"] == want, "its four types, with names, API and room", found)
    check(validates(pci_xml(), "nodedev"), "libvirt's schema takes the stand-in's XML of the card")
    inventory = compute._get_gpu_inventories()
    check(inventory.get(PCI, {}).get("total") == 8 and inventory[PCI]["max_unit"] == 8, "Nova tells its scheduler of eight vGPUs", inventory)


def test_create(compute):
    uuid = compute._create_new_mediated_device(PCI)
    check(uuid and re.fullmatch(r"[0-9a-f-]{36}", uuid), "a vGPU is created", uuid)
    found = compute._get_mediated_devices(types=[TYPE])
    check([(each["uuid"], each["type"], each["parent"]) for each in found] == [(uuid, TYPE, PCI)], "and found", found)
    check(compute._is_existing_mdev(uuid), "its folder in sysfs is there")
    check(validates(mdev_xml(uuid), "nodedev"), "libvirt's schema takes the stand-in's XML of the vGPU")
    check(compute._get_gpu_inventories()[PCI]["total"] == 8, "there are eight still, of which one is made")
    check(compute._get_existing_mdevs_not_assigned(PCI, [TYPE]) == {uuid}, "Nova would give it to the next guest")
    xml = guest_device(uuid).to_xml()
    check("model=\"vfio-pci\"" in xml and uuid in xml, "the guest's device is vfio-pci", xml)
    domain = f"<domain type='kvm'><name>g</name><memory>1</memory><os><type>hvm</type></os><devices>{xml}</devices></domain>"
    check(validates(domain, "domain"), "libvirt's schema takes Nova's device")
    return uuid


def test_restart(uuid):
    compute = start_compute(Guest(uuid))
    check([each["uuid"] for each in compute._get_mediated_devices()] == [uuid], "after a restart of nova-compute it is found again")
    check(compute._get_all_assigned_mediated_devices() == {uuid: Guest.uuid}, "and is its guest's")
    check(compute._get_existing_mdevs_not_assigned(PCI, [TYPE]) == set(), "and nobody else's")
    return compute


def test_full(compute):
    made = {compute._create_new_mediated_device(PCI) for _ in range(7)}
    check(len(made - {None}) == 7, "seven more are created")
    check(compute._create_new_mediated_device(PCI) is None, "the ninth is not")
    check(compute._get_gpu_inventories()[PCI]["total"] == 8, "Nova still counts eight")


def test_reboot(uuid):
    """After the host's reboot its vGPUs are gone, if nobody has defined them."""
    for each in os.listdir("/sys/bus/mdev/devices"):
        os.unlink(f"/sys/bus/mdev/devices/{each}")
        room(TYPE, 1)
    try:
        start_compute(Guest(uuid))
        refused = ""
    except LibvirtError as error:
        refused = str(error)
    check("no node device" in refused, "after a reboot Nova 26 doesn't start while a guest's vGPU is not made again", refused)


def main():
    nova.privsep.sys_admin_pctxt.set_client_mode(False)
    driver.libvirt = host.libvirt = libvirt
    cfg.CONF([], project="nova", default_config_files=[])
    nova.conf.CONF.set_override("enabled_mdev_types", [TYPE], group="devices")
    compute = start_compute()
    test_types(compute)
    uuid = test_create(compute)
    compute = test_restart(uuid)
    test_full(compute)
    test_reboot(uuid)
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


sys.exit(main())
