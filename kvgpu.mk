# SPDX-License-Identifier: GPL-2.0-only
# kvgpu.ko for the kernels of the test bed, and its installation on a real machine. The kernel's
# build system writes beside the sources, so it gets a folder of symbolic links to them,
# $(O)/module-<label>.

# Debian suites, from each of which the test bed has a kernel. kernels.list also says which suite is
# the base, the oldest and the newest kernel. Rooms are the folders of sources of this project.
KVGPU_KERNELS	:= $(shell sed 's/\#.*//' testbed/packages/kernels.list | awk 'NF { print $$1 }')
KERNEL		?= $(firstword $(KVGPU_KERNELS))
KVGPU_ROOMS	:= hw mdev mmio-trap gtt-shadow sched include/kvgpu include/gk110
KVGPU_VERSION	:= 0.4
# all files that the module is built from
KVGPU_SOURCES	= Kbuild mdev/build.mk mdev/explain.sh mdev/probe.awk mdev/probes.list $$(find $(KVGPU_ROOMS) -name '*.[ch]')

# $(call kvgpu_links,DIR): make a link in DIR for each source of the module, and remove links to
# sources that are gone. Objects that were built in DIR before stay.
kvgpu_links	= mkdir -p '$(1)' && for f in $(KVGPU_SOURCES); do \
			mkdir -p "$(1)/$$(dirname $$f)" && ln -sfn "$(CURDIR)/$$f" "$(1)/$$f" || exit 1; done && \
		  find '$(1)' -xtype l -delete

# $(call kvgpu_make,DIR,LABEL,ARGUMENTS): build the module in $(O)/DIR for kernel LABEL, with
# mdev/build.mk, in the root that has the compilers and headers (testbed/tb build-exec). MAKEFLAGS,
# which passes on the variables of this make's command line, and O are taken out of the environment,
# because the kernel's make knows some of the same names, as O=FOLDER, with another meaning. All
# output goes to $(O)/DIR.log. Its last lines are also printed, without make's own messages:
# warnings, errors, and at the end the cause of a failure. Descriptor 9 is the caller's lock.
define kvgpu_make
	(tree=$$($(TB) kernel-tree '$(2)') && rc=0 && { $(TB) build-exec -- env -u MAKEFLAGS -u MAKEOVERRIDES -u MFLAGS -u O \
		make -s -j"$$(nproc)" -f '$(O)/$(1)/mdev/build.mk' KVGPU_TREE="$$tree" KVGPU_LOG='$(O)/$(1).log' $(3) \
		> '$(O)/$(1).log' 2>&1 || rc=1; } && \
		{ grep -v '^make\|\*\*\* kvgpu: ' '$(O)/$(1).log' | tail -n 40; exit $$rc; }) 9>&-
endef

# A module of the same sources, kernel headers, compilers and build recipe is built once for all
# clones on this machine: kvgpu_key is a hash of these, and the cache keeps the module under that
# name. When a module is added, those that were not used for 30 days are deleted.
KVGPU_STORE	:= $(KVGPU_CACHE)/modules
kvgpu_key	= $$({ $(TB) kernel-tree --key '$(1)'; sha256sum $(KVGPU_SOURCES); sed -n '/^define kvgpu_make/,/^endef/p; /^KVGPU_SPARSE/p' kvgpu.mk; } | sha256sum | cut -c1-24)
kvgpu_keep	= mkdir -p '$(KVGPU_STORE)' && cp '$(1)/kvgpu.ko' '$(KVGPU_STORE)'/$$$$.new && mv '$(KVGPU_STORE)'/$$$$.new "$(KVGPU_STORE)/$$key.ko" && \
		  find '$(KVGPU_STORE)' -type f -mtime +30 -delete

module-%:
	@mkdir -p '$(O)/$@'
	@exec 9> '$(O)/$@.lock' && flock 9 && key=$(call kvgpu_key,$*) && if [ -e "$(KVGPU_STORE)/$$key.ko" ]; then \
		touch "$(KVGPU_STORE)/$$key.ko"; \
		cmp -s "$(KVGPU_STORE)/$$key.ko" '$(O)/$@/kvgpu.ko' || cp "$(KVGPU_STORE)/$$key.ko" '$(O)/$@/kvgpu.ko'; \
	else \
		$(call kvgpu_links,$(O)/$@) && $(call kvgpu_make,$@,$*) && $(call kvgpu_keep,$(O)/$@); \
	fi

module: module-$(KERNEL) ## kvgpu.ko for KERNEL, a suite that "tb kernels" lists (default: the base)

modules: $(KVGPU_KERNELS:%=module-%) ## kvgpu.ko for all of these kernels

# KBUILD_CHECKSRC=2 is needed beside C=2 for newer kernels: their Makefile turns checking off if a
# script does not find sparse, and Debian's header packages lack that script. Newer headers also use
# __typeof_unqual__ and want a constant __builtin_strlen(), which sparse 0.6.4 does not know. Older
# headers use neither.
KVGPU_SPARSE	:= W=1 C=2 KBUILD_CHECKSRC=2 CF="-D__typeof_unqual__=__typeof__ '-D__builtin_strlen(s)=(sizeof(s)-1)'"

# Compile every file anew with W=1 and sparse; any warning is a failure. Skip it if a module with
# the same kvgpu_key had no warning before. The module that results also goes into the cache.
check-module-%:
	@mkdir -p '$(O)/$@' '$(KVGPU_STORE)'
	@exec 9> '$(O)/$@.lock' && flock 9 && key=$(call kvgpu_key,$*) && \
		clean=$(KVGPU_STORE)/$$key.clean && if [ -e "$$clean" ]; then \
		touch "$$clean"; echo "module for $*: no warning of W=1 or sparse (the same was looked at before)"; \
	else \
		$(call kvgpu_links,$(O)/$@) && find '$(O)/$@' -name '*.o' -delete && \
		{ said=$$($(call kvgpu_make,$@,$*,$(KVGPU_SPARSE))) || { printf '%s\n' "$$said"; exit 1; }; } && \
		{ ! grep -E 'warning:|error:' '$(O)/$@.log' || { echo "module for $*: not clean: $(O)/$@.log"; exit 1; }; } && \
		$(call kvgpu_keep,$(O)/$@) && : > "$$clean" && echo "module for $*: no warning of W=1 or sparse"; \
	fi

module-check: $(KVGPU_KERNELS:%=check-module-%) ## builds the module for all kernels with W=1 and sparse: no warning is accepted

print-module-sources: ; @printf '%s\n' $(KVGPU_SOURCES)

print-kvgpu: ; @echo '$(O)/module-$(KERNEL)/kvgpu.ko'

# ---------------------------------------------------------------- Install on a real machine

DESTDIR		?=
DKMS_SRC	:= $(DESTDIR)/usr/src/kvgpu-$(KVGPU_VERSION)

# pages that an admin needs, and that tools, alerts and the module's messages name
KVGPU_PAGES	:= docs/admin.md docs/clouds.md docs/hardware.md docs/install.md docs/limits.md docs/open-points.md \
		   docs/sharing.md docs/supported.md docs/threat-model.md

COMPLETIONS	:= $(DESTDIR)/usr/share/bash-completion/completions

# Install sources for DKMS, the tools, and the files that give cards their lives and start vGPUs at
# boot. The running system is not changed: the admin runs the commands that this target prints.
# debian/ makes packages of what it installs in $(DESTDIR).
install: $(FIRMWARE) $(TOP) ## puts sources for DKMS, tools, configuration and documents into $(DESTDIR)/
	install -d '$(DKMS_SRC)'
	tar -cf - $(KVGPU_SOURCES) | tar -xf - --no-same-owner -C '$(DKMS_SRC)'
	sed 's/#MODULE_VERSION#/$(KVGPU_VERSION)/' dkms.conf > '$(DKMS_SRC)/dkms.conf'
	install -D -m 755 '$(FIRMWARE)' '$(DESTDIR)/usr/sbin/kvgpu-firmware'
	install -D -m 755 '$(TOP)' '$(DESTDIR)/usr/bin/kvgpu-top'
	install -d '$(DESTDIR)/usr/share/kvgpu/verify'
	install -m 644 tools/verify/*.py '$(DESTDIR)/usr/share/kvgpu/verify'
	install -m 755 tools/verify/kvgpu-verify '$(DESTDIR)/usr/share/kvgpu/verify'
	ln -sfn ../share/kvgpu/verify/kvgpu-verify '$(DESTDIR)/usr/sbin/kvgpu-verify'
	install -d '$(DESTDIR)/usr/share/kvgpu/card' '$(DESTDIR)/usr/lib/systemd/system/multi-user.target.wants'
	install -m 644 tools/card/*.py '$(DESTDIR)/usr/share/kvgpu/card'
	install -m 755 tools/card/kvgpu-card '$(DESTDIR)/usr/share/kvgpu/card'
	ln -sfn ../share/kvgpu/card/kvgpu-card '$(DESTDIR)/usr/sbin/kvgpu-card'
	install -m 644 tools/card/kvgpu-card.service '$(DESTDIR)/usr/lib/systemd/system'
	ln -sfn ../kvgpu-card.service '$(DESTDIR)/usr/lib/systemd/system/multi-user.target.wants/kvgpu-card.service'
	install -D -m 644 tools/card/kvgpu-card.bash '$(COMPLETIONS)/kvgpu-card'
	install -D -m 644 tools/card/kvgpu-card.8 '$(DESTDIR)/usr/share/man/man8/kvgpu-card.8'
	install -D -m 755 -t '$(DESTDIR)/usr/sbin' tools/admin/kvgpu-profile tools/admin/kvgpu-report
	install -D -m 644 tools/admin/profile.conf '$(DESTDIR)/etc/kvgpu/profile.conf'
	install -D -m 755 tools/admin/mdevctl-callout '$(DESTDIR)/etc/mdevctl.d/scripts.d/callouts/kvgpu-profile'
	install -D -m 644 -t '$(DESTDIR)/usr/share/man/man8' tools/admin/*.8
	install -D -m 644 -t '$(DESTDIR)/usr/lib/udev/rules.d' tools/admin/62-kvgpu-profile.rules
	install -D -m 644 -t '$(DESTDIR)/usr/lib/systemd/system' tools/admin/kvgpu-profile.service tools/monitoring/kvgpu-prometheus.socket tools/monitoring/kvgpu-prometheus.service
	install -D -m 644 -t '$(DESTDIR)/usr/share/kvgpu/prometheus' tools/monitoring/kvgpu-alerts.yml tools/monitoring/kvgpu.html
	install -D -m 644 tools/kvgpu-top.1 '$(DESTDIR)/usr/share/man/man1/kvgpu-top.1'
	install -D -m 644 tools/kvgpu.7 '$(DESTDIR)/usr/share/man/man7/kvgpu.7'
	install -D -m 644 firmware/kvgpu-firmware.8 '$(DESTDIR)/usr/share/man/man8/kvgpu-firmware.8'
	install -D -m 644 tools/verify/kvgpu-verify.8 '$(DESTDIR)/usr/share/man/man8/kvgpu-verify.8'
	install -D -m 644 tools/completion.bash '$(COMPLETIONS)/kvgpu-top'
	for c in firmware verify; do ln -sfn kvgpu-top "$(COMPLETIONS)/kvgpu-$$c"; done
	install -D -m 644 libvirt-xml/kvgpu.modprobe.conf '$(DESTDIR)/etc/modprobe.d/kvgpu.conf'
	install -D -m 644 libvirt-xml/61-kvgpu-mdevctl.rules '$(DESTDIR)/usr/lib/udev/rules.d/61-kvgpu-mdevctl.rules'
	install -D -m 644 -t '$(DESTDIR)/usr/share/doc/kvgpu' libvirt-xml/*.xml libvirt-xml/README.md LICENSES/GPL-2.0-only.txt $(KVGPU_PAGES)
	debian/cut-links.sh '$(DESTDIR)/usr/share/doc/kvgpu'
	install -D -m 755 -t '$(DESTDIR)/usr/share/doc/kvgpu/hooks' libvirt-xml/hooks/qemu
	@echo; echo "next, as root:"
	@echo "  dkms install kvgpu/$(KVGPU_VERSION)      # builds the module for this kernel, later by itself for new ones"
	@echo "  kvgpu-firmware             # takes the GPU's firmware out of this kernel's nouveau"
	@echo "  kvgpu-card share ADDRESS   # takes that card from nouveau, now and at each boot; kvgpu-card status shows the cards"
	@echo "  mdevctl types              # libvirt-xml/README.md goes on from here"

# dkms remove fails if DKMS does not know the module, so ask dkms status first. A module that is
# loaded stays loaded until rmmod or a reboot.
uninstall: ## removes what install put there, and from a running system also DKMS's modules and the firmware file
	@if [ -z '$(DESTDIR)' ] && command -v dkms > /dev/null && dkms status kvgpu/$(KVGPU_VERSION) | grep -q .; then \
		dkms remove kvgpu/$(KVGPU_VERSION) --all; fi
	rm -rf '$(DKMS_SRC)' '$(DESTDIR)/usr/share/doc/kvgpu' '$(DESTDIR)/usr/share/kvgpu' '$(DESTDIR)/etc/kvgpu/cards'
	rm -f '$(DESTDIR)/usr/sbin/kvgpu-firmware' '$(DESTDIR)/usr/sbin/kvgpu-verify' '$(DESTDIR)/usr/bin/kvgpu-top' \
		'$(DESTDIR)/usr/share/man/man1/kvgpu-top.1' '$(DESTDIR)/usr/share/man/man7/kvgpu.7' '$(DESTDIR)/etc/modprobe.d/kvgpu.conf' \
		'$(DESTDIR)/usr/sbin/kvgpu-'{card,profile,report} '$(DESTDIR)/etc/kvgpu/profile.conf' \
		'$(DESTDIR)/etc/mdevctl.d/scripts.d/callouts/kvgpu-profile' \
		'$(DESTDIR)/usr/share/man/man8/kvgpu-'{card,firmware,profile,report,verify}.8 \
		'$(COMPLETIONS)/kvgpu-'{card,firmware,top,verify} \
		'$(DESTDIR)/usr/lib/systemd/system/kvgpu-'{card.service,profile.service,prometheus.socket,prometheus.service} \
		'$(DESTDIR)/usr/lib/systemd/system/multi-user.target.wants/kvgpu-card.service' \
		'$(DESTDIR)/usr/lib/udev/rules.d/'{61-kvgpu-mdevctl,62-kvgpu-profile}.rules '$(DESTDIR)/lib/firmware/kvgpu/gk110.fw'
	@rmdir '$(DESTDIR)/lib/firmware/kvgpu' '$(DESTDIR)/etc/kvgpu' '$(DESTDIR)/etc/mdevctl.d/scripts.d/callouts' '$(DESTDIR)/etc/mdevctl.d/scripts.d' 2> /dev/null || true
	@[ -n '$(DESTDIR)' ] || echo "nouveau gets its cards again at the next boot"

MAKE_REPOSITORY	= debian/packages.sh '$(O)/packages' build/apt

packages: cuda-package cuda-dev-package remote-package cluster-package ## all Debian packages: build/apt, a signed repository; prints how to install from it
	@$(MAKE_REPOSITORY)

module-packages: ## the same of the module and its tools alone, which takes a minute, and of what else is in build/
	@$(MAKE_REPOSITORY)

print-version: ; @echo '$(KVGPU_VERSION)'

.PHONY: module modules module-check print-module-sources print-kvgpu print-version install packages module-packages uninstall
