# The commands of gotchu. `make` alone lists them.

PREFIX ?= /usr/local
DESTDIR ?=
# Where `make install` takes the programs from; set it to install what is already built.
BINARIES ?=

PROGRAMS := gotchud gotchu-ctl gotchu-server
# A program of the system has no business looking for libraries beside itself.
RELEASE_FLAGS := -c release --static-swift-stdlib --disable-local-rpath
RELEASE := .build/release

BINDIR := $(DESTDIR)$(PREFIX)/bin
# systemd and D-Bus look below /usr, /usr/local and /etc alike; configuration is always in /etc.
UNITDIR := $(DESTDIR)$(PREFIX)/lib/systemd/system
SYSUSERSDIR := $(DESTDIR)$(PREFIX)/lib/sysusers.d
POLICYDIR := $(DESTDIR)/usr/share/dbus-1/system.d
MANDIR := $(DESTDIR)$(PREFIX)/share/man
SHAREDIR := $(DESTDIR)$(PREFIX)/share
DOCDIR := $(SHAREDIR)/doc
CONFDIR := $(DESTDIR)/etc/gotchu
# What is offered and not switched on.
EXAMPLEDIR := $(DOCDIR)/gotchu/examples
DISPLAYDIR := $(DOCDIR)/gotchu-display
# Where Debian's Chromium looks for what a machine's owner decided.
CHROMIUMDIR := $(DESTDIR)/etc/chromium/policies/managed

MANUALS := $(wildcard docs/man/*.[158])

.PHONY: help build demo test check vm browser pictures bench near install install-display release deb format lint docs
.DEFAULT_GOAL := help

help:
	@echo 'make test      the quick proof: every promise at least once, in about five minutes;'
	@echo '               FILTER=MoneyTests for the suites and tests whose names match'
	@echo 'make check     the full proof: every test once, those on a real kernel and bluetoothd,'
	@echo '               in a browser and of the packages included; before a release'
	@echo 'make demo      build, then tell the whole story on this machine: no hardware needed;'
	@echo '               SCREENS=1 to see display, till and earnings in a browser too'
	@echo 'make build     build the three programs into .build/debug'
	@echo 'make vm        run whole payments in a virtual machine with Bluetooth;'
	@echo '               STORY=tap for one of them, SEED=7 to repeat its run'
	@echo 'make browser   run only the stories in a real browser; STORY=sale for one of them'
	@echo 'make pictures  draw the pictures that pages are held against, and those of the README'
	@echo 'make near      play RECORDING=FILE through the nearness decision; docs/nearness.md'
	@echo 'make bench     measure all of it; BENCH=server, flood or "daemon --help" for a part'
	@echo 'make install   build for release and install; PREFIX=/usr/local, DESTDIR='
	@echo 'make install-display  install what shows the display on this machine: its unit, its'
	@echo '               user, and a policy that lets Chromium open no other page here'
	@echo 'make deb       build for release and make Debian packages of it: .build/deb'
	@echo 'make format    format the sources'
	@echo 'make docs      write the pages that are generated: docs/errors.md'
	@echo 'make lint      say what `make format` would change'

build:
	@.ci/need build
	@.ci/progress 'Building gotchu' swift build

demo: build
	@.build/debug/gotchu-ctl demo $(if $(SCREENS),--screens)

test:
	@.ci/need build test
	@.ci/progress 'Building gotchu and its tests' swift build --build-tests
	@.ci/test $(if $(FILTER),--filter '$(FILTER)',quick)

check:
	@.ci/need build test
	@.ci/progress 'Building gotchu and its tests' swift build --build-tests
	@.ci/test

vm: export GOTCHU_VM_STORIES := $(STORY)
vm: export GOTCHU_VM_SEED := $(SEED)
vm:
	@.ci/need build test
	@.ci/progress 'Building gotchu and its tests' swift build --build-tests
	@.ci/test $(if $(STORY),--filter VMTests.*story,vm)

browser: export GOTCHU_BROWSER_STORIES := $(STORY)
browser:
	@.ci/need build test
	@.ci/progress 'Building gotchu and its tests' swift build --build-tests
	@.ci/test browser

pictures: export GOTCHU_TEST_WRITE := 1
pictures: export GOTCHU_BROWSER_STORIES := pictures month
pictures:
	@.ci/need build test
	@.ci/progress 'Building gotchu and its tests' swift build --build-tests
	@.ci/test --filter BrowserTests.*story

bench:
	@Benchmarks/run $(BENCH)

near:
	@Benchmarks/nearness/run play $(or $(RECORDING),$(error RECORDING=FILE is missing: see docs/nearness.md))

format:
	@.ci/need build
	@swift format -i -r Sources Tests Benchmarks

lint:
	@.ci/need build
	@swift format lint --strict -r Sources Tests Benchmarks

docs: export GOTCHU_TEST_WRITE := 1
docs:
	@.ci/need build test
	@.ci/progress 'Building gotchu and its tests' swift build --build-tests
	@.ci/test --filter 'ErrorPageTests|ContestSnapshotTests'

release:
	@.ci/need build
	@for program in $(PROGRAMS); do \
	    .ci/progress "Building $$program for release" \
	        swift build $(RELEASE_FLAGS) --product $$program || exit; \
	done

ifeq ($(BINARIES),)
deb: release
deb: BINARIES := $(RELEASE)
install: release
install: BINARIES := $(RELEASE)
endif
install:
	install -d $(BINDIR) $(UNITDIR) $(SYSUSERSDIR) $(POLICYDIR) $(CONFDIR)
	install -s -m 755 $(addprefix $(BINARIES)/,$(PROGRAMS)) $(BINDIR)
	for unit in gotchud gotchu-server gotchu-server-payouts; do \
	    sed 's|=/usr/bin/|=$(PREFIX)/bin/|' systemd/$$unit.service >$(UNITDIR)/$$unit.service && \
	    chmod 644 $(UNITDIR)/$$unit.service || exit; \
	done
	install -m 644 systemd/gotchu-server-payouts.timer $(UNITDIR)
	for users in gotchu gotchu-server; do \
	    install -m 644 systemd/$$users.sysusers.conf $(SYSUSERSDIR)/$$users.conf || exit; \
	done
	install -m 644 dbus-policy/org.gotchu.gotchud.conf $(POLICYDIR)
	install -d $(EXAMPLEDIR) $(DOCDIR)/gotchu-server
	install -m 644 systemd/gotchud-management.conf $(EXAMPLEDIR)/management.conf
	sed 's|=/usr/bin/|=$(PREFIX)/bin/|' systemd/gotchu-hook.service >$(EXAMPLEDIR)/hook.service
	chmod 644 $(EXAMPLEDIR)/hook.service
	install -m 644 docs/examples/till.py docs/examples/till.mjs $(EXAMPLEDIR)
	install -m 644 docs/local-api.md $(DOCDIR)/gotchu
	install -m 644 docs/operations.md docs/web.md docs/contests.md docs/alerts.rules.yml \
		$(DOCDIR)/gotchu-server
	test -e $(CONFDIR)/gotchud.json || install -m 644 systemd/gotchud.json $(CONFDIR)
	@# What stands in it may be a password.
	test -e $(CONFDIR)/gotchu-server.env || install -m 600 systemd/gotchu-server.env $(CONFDIR)
	for page in $(MANUALS); do \
	    section=$(MANDIR)/man$${page##*.}; \
	    install -d $$section && install -m 644 $$page $$section || exit; \
	done
	for program in $(PROGRAMS); do \
	    .ci/install-completions $(BINARIES)/$$program $(SHAREDIR) || exit; \
	done
ifeq ($(DESTDIR),)
	systemd-sysusers $(SYSUSERSDIR)/gotchu.conf $(SYSUSERSDIR)/gotchu-server.conf
	-systemctl daemon-reload
	-systemctl reload dbus
	@echo 'Installed. Next: sudo systemctl enable --now gotchud'
endif

# What a browser needs, and no program.
install-display:
	install -d $(UNITDIR) $(SYSUSERSDIR) $(CHROMIUMDIR) $(DISPLAYDIR)/examples
	install -m 644 systemd/gotchu-display.service $(UNITDIR)
	install -m 644 systemd/gotchu-display.sysusers.conf $(SYSUSERSDIR)/gotchu-display.conf
	install -m 644 systemd/gotchu-display.policy.json $(CHROMIUMDIR)/gotchu-display.json
	install -m 644 docs/display-package.md $(DISPLAYDIR)
	install -m 644 systemd/gotchu-screens.weston.ini $(DISPLAYDIR)/examples/weston.ini
	install -m 755 systemd/gotchu-screens $(DISPLAYDIR)/examples/screens
ifeq ($(DESTDIR),)
	systemd-sysusers $(SYSUSERSDIR)/gotchu-display.conf
	-systemctl daemon-reload
	@echo 'Installed. Next: sudo systemctl enable --now gotchu-display'
endif

deb:
	@.ci/need build package
	@.ci/deb $(BINARIES) .build/deb
	@ls .build/deb/*.deb
