# How test/package makes and tries each kind of package; sourced by it.  POSIX sh.
#
# A system is a folder that mmdebstrap made once.  What happens to it happens in a layer above it
# (overlayfs), so that the next one begins with the same.

version=$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$root/gpubtree.control")

# release_of VERSION: print the release of Debian that has this PostgreSQL.
release_of()
{
	case $1 in
	15) echo bookworm ;;
	*) release "$1" ;;
	esac
}

# expect WHAT COMMAND...: count whether the command succeeds; print what it printed if not, or if it
# says what was measured.
expect()
{
	expected=$1
	shift
	if "$@" >"$work/output" 2>&1; then
		passed=$((passed + 1))
		echo "ok - $expected"
		grep '^measured: ' "$work/output" || true
	else
		failed=$((failed + 1))
		echo "not ok - $expected"
		tail -n 60 "$work/output"
		return 1
	fi
}

# make_system NAME RELEASE [PACKAGE...]: make that system, unless it is there.
make_system()
{
	[ ! -e "$chroots/$1/gpubtree.made" ] || return 0
	made=$1
	made_of=$2
	shift 2
	rm -rf "${chroots:?}/$made"
	# A mirror may lag behind the date that a release is valid until.
	mmdebstrap --variant=minbase --aptopt='Acquire::Check-Valid-Until "false"' \
		--include="$(echo "$*" | tr ' ' ,)" "$made_of" "$chroots/$made" &&
		touch "$chroots/$made/gpubtree.made"
}

# A system that has nothing, one that builds, and one with a server but without a compiler
clean_system() { make_system "clean-$1" "$1" ca-certificates; }
build_system()
{
	make_system "build-$(release_of "$1")" "$(release_of "$1")" build-essential debhelper dpkg-dev \
		fakeroot lintian postgresql-server-dev-all postgresql-common "postgresql-$1"
}

server_system()
{
	make_system "server-$(release_of "$1")" "$(release_of "$1")" ca-certificates "postgresql-$1"
}

# begin NAME SYSTEM: a new layer above that system; $layer is where it is seen.
begin()
{
	layer=$work/$1
	mkdir -p "$layer.new" "$layer.work" "$layer"
	mount -t overlay overlay \
		-o "lowerdir=$chroots/$2,upperdir=$layer.new,workdir=$layer.work" "$layer"
}

# end NAME: give the layer up.
end()
{
	umount --recursive "$work/$1"
	[ -n "$keep_work" ] || rm -rf "${work:?}/$1" "$work/$1.new" "$work/$1.work"
}

# end_layers: unmount what is still mounted, before the files are removed: all that is seen in a layer
# would be, and a toolkit that is mounted there is the machine's own.
end_layers()
{
	for mounted in "$work"/*; do
		! mountpoint -q "$mounted" || umount --recursive --lazy "$mounted"
	done
}

# bring_toolkit: mount the CUDA toolkit where the layer looks for it, read-only.
bring_toolkit()
{
	mkdir -p "$layer/usr/local/cuda"
	mount --rbind "$GPB_CUDA" "$layer/usr/local/cuda"
	mount -o remount,bind,ro "$layer/usr/local/cuda"
}

# inside COMMAND...: run it in the layer, see in_root
inside() { in_root "$layer" DEBIAN_FRONTEND=noninteractive "$@"; }

# script: run what stands on standard input in the layer, as a script that ends at an error.
script()
{
	{ echo 'set -eu'; cat; } >"$layer/tmp/script"
	inside sh /tmp/script
}

# megabytes DIRECTORY_OR_FILE...: print what they take
megabytes() { du -c -k "$@" | awk 'END { printf "%.1f MB\n", $1 / 1024 }'; }

# example VERSION: the lines of a script that start a server as README.md says and run its example
# there; gpubtree is installed, and the sources are in /gpubtree.
example()
{
	cat <<-SCRIPT
		pg_conftool $1 main set shared_preload_libraries gpubtree
		pg_ctlcluster $1 main restart
		cd /gpubtree
		chown -R postgres: /gpubtree
		setpriv --reuid=postgres --regid=postgres --clear-groups sh test/readme_example
		pg_ctlcluster $1 main stop
	SCRIPT
}

# bring_example: bring what readme_example needs into the layer.
bring_example()
{
	mkdir -p "$layer/gpubtree/test"
	cp "$root/README.md" "$layer/gpubtree/"
	cp "$root/test/readme_example" "$layer/gpubtree/test/"
}

# ---- Debian ----

package_deb()
{
	system=$(release_of "$1")
	expect "systems of $system" deb_systems "$1" || return 0
	begin build "build-$system"
	expect "the packages are built" deb_build "$1" || { end build; return 0; }
	mkdir -p "$work/packages"
	cp "$layer"/build/*.deb "$work/packages/"
	if [ -n "${GPB_PACKAGES:-}" ]; then
		mkdir -p "$GPB_PACKAGES"
		cp "$work"/packages/*.deb "$GPB_PACKAGES/"
	fi
	expect "lintian finds no error" deb_lintian || true
	expect "sizes" deb_sizes "$1" || true
	expect "the tests of debian/tests pass" deb_autopkgtest "$1" || true
	end build
	begin clean "clean-$system"
	expect "from nothing to the example's answer, without a compiler" deb_clean "$1" || true
	[ -z "${GPB_CUDA:-}" ] ||
		expect "the GPU code beside it, without a driver: the server says so and answers" \
			deb_gpu_code "$1" || true
	expect "it is removed without a trace" deb_remove "$1" || true
	end clean
	[ -z "$(command -v piuparts)" ] || expect "piuparts" deb_piuparts "$1" || true
}

deb_systems() { clean_system "$(release_of "$1")" && build_system "$1"; }

deb_build()
{
	folder=$layer/build/gpubtree-$version
	copy_sources "$folder"
	tar -C "$layer/build" --exclude=debian -czf "$layer/build/gpubtree_$version.orig.tar.gz" \
		"gpubtree-$version"
	options=
	profiles=
	if [ -n "${GPB_CUDA:-}" ]; then
		bring_toolkit
		# nvcc is there, though no package.
		options=-d
		profiles=pkg.gpubtree.cuda
	fi
	started=$(date +%s)
	script <<-SCRIPT || return 1
		cd /build/gpubtree-$version
		pg_buildext updatecontrol
		${CUDA_ARCHS:+export CUDA_ARCHS="'$CUDA_ARCHS'"}
		${QUICK:+export QUICK=$QUICK}
		PATH=\$PATH:/usr/local/cuda/bin DEB_BUILD_PROFILES=$profiles \
			DEB_BUILD_OPTIONS="parallel=$(nproc)" nice dpkg-buildpackage -us -uc $options
	SCRIPT
	echo "measured: built in $(($(date +%s) - started)) s"
}

deb_lintian()
{
	script <<-SCRIPT || return 1
		cd /build
		lintian --allow-root --fail-on error --display-info gpubtree_*.changes >lintian 2>&1 ||
			{ cat lintian; exit 1; }
		sed 's/^/measured: lintian: /' lintian
	SCRIPT
}

deb_sizes()
{
	for package in "$layer"/build/postgresql-*.deb; do
		case $package in *-dbgsym_*) continue ;; esac
		rm -rf "$work/unpacked"
		dpkg-deb -x "$package" "$work/unpacked"
		echo "measured: $(basename "$package"): $(megabytes "$package") to load," \
			"$(megabytes "$work/unpacked") installed"
		limit=4096
		case $package in *-cuda_*) limit=46080 ;; esac
		[ "$(du -s -k "$work/unpacked" | cut -f 1)" -le $limit ] || return 1
	done
}

# As autopkgtest would: the packages installed, the sources at hand.  With a server of this user's own
# that needs no service.
deb_autopkgtest()
{
	started=$(date +%s)
	script <<-SCRIPT || return 1
		apt-get -q update
		apt-get -q -y install /build/postgresql-$1-gpubtree_*.deb
		# Names of time zones that releases have apart, where they do
		! apt-cache show tzdata-legacy >/dev/null 2>&1 || apt-get -q -y install tzdata-legacy
		cd /build/gpubtree-$version
		debian/rules clean
		useradd -m tester
		chown -R tester: .
		for name in \$(sed -n 's/^Tests: //p' debian/tests/control); do
			setpriv --reuid=tester --regid=tester --clear-groups env HOME=/home/tester \
				sh debian/tests/\$name
		done
	SCRIPT
	echo "measured: debian/tests took $(($(date +%s) - started)) s"
}

deb_clean()
{
	bring_example
	cp "$work"/packages/postgresql-"$1"-gpubtree_*.deb "$layer/tmp/"
	started=$(date +%s)
	{
		echo "apt-get -q update"
		echo "apt-get -q -y install /tmp/postgresql-$1-gpubtree_*.deb"
		example "$1"
		echo 'for c in cc gcc clang nvcc; do if command -v $c; then exit 1; fi; done'
	} | script || return 1
	echo "measured: $(($(date +%s) - started)) s from nothing to the answer, apt-get included"
}

# The object needs no library but libc, ours finds it, and the log names what the machine lacks.
deb_gpu_code()
{
	cp "$work"/packages/postgresql-"$1"-gpubtree-cuda_*.deb "$layer/tmp/"
	log=/var/log/postgresql/postgresql-$1-main.log
	script <<-SCRIPT
		apt-get -q -y install /tmp/postgresql-$1-gpubtree-cuda_*.deb
		ldd /usr/lib/postgresql/$1/lib/gpubtree_cuda.so >/tmp/needed
		if grep -v -e linux-vdso -e /libc.so.6 -e /ld-linux- /tmp/needed; then exit 1; fi
		for device in auto cuda; do
			pg_conftool $1 main set gpubtree.device \$device
			: >$log
			$(example "$1" | tr '\n' ';')
			grep -m 1 'gpubtree runs without a device: .*driver' $log >/tmp/said
			sed "s/.*gpubtree runs/measured: device = \$device: gpubtree runs/" /tmp/said
		done
		pg_conftool $1 main remove gpubtree.device
	SCRIPT
}

deb_remove()
{
	script <<-SCRIPT || return 1
		pg_conftool $1 main remove shared_preload_libraries
		apt-get -q -y purge postgresql-$1-gpubtree
		rm -rf /gpubtree /tmp/postgresql-$1-gpubtree*.deb
		if find / -xdev -name '*gpubtree*' ! -name gpubtree.made | grep .; then exit 1; fi
		pg_ctlcluster $1 main start
	SCRIPT
}

deb_piuparts()
{
	tar -C "$chroots/clean-$(release_of "$1")" -czf "$work/base.tar.gz" .
	piuparts --basetgz="$work/base.tar.gz" --keep-sources-list --distribution="$(release_of "$1")" \
		--warn-on-leftovers-after-purge --no-eatmydata --skip-logrotatefiles-test \
		"$work"/packages/postgresql-"$1"-gpubtree_*.deb
}

# ---- RPM ----

package_rpm()
{
	system=$(release_of "$1")
	expect "systems of $system" rpm_systems "$1" || return 0
	begin build "build-$system"
	expect "the package is built" rpm_build "$1" || { end build; return 0; }
	mkdir -p "$work/packages"
	cp "$layer"/root/rpmbuild/RPMS/*/*.rpm "$work/packages/"
	end build
	begin server "server-$system"
	expect "it installs, answers and is removed" rpm_server "$1" || true
	end server
}

rpm_systems() { server_system "$1" && build_system "$1"; }

# make_dist DIRECTORY: make there what "make dist" makes of this commit.
make_dist()
{
	mkdir -p "$1"
	# PGXS has no part in it.
	make -s -C "$root" PGXS=/dev/null CUDA=no DIST="$1" dist
}

rpm_build()
{
	make_dist "$layer/root/rpmbuild/SOURCES" || return 1
	cp "$root/rpm/gpubtree.spec" "$layer/root/"
	script <<-SCRIPT || return 1
		apt-get -q update
		apt-get -q -y install rpm unzip
		cd /root
		# The compiler and the headers are packages of Debian, which rpm does not know.
		rpmbuild -bb --nodeps --define "debug_package %{nil}" --define "pgmajor $1" \
			--define "pg_config /usr/lib/postgresql/$1/bin/pg_config" gpubtree.spec
	SCRIPT
	for package in "$layer"/root/rpmbuild/RPMS/*/*.rpm; do
		echo "measured: $(basename "$package"): $(megabytes "$package") to load"
	done
}

rpm_server()
{
	bring_example
	cp "$work"/packages/gpubtree_"$1"-*.rpm "$layer/tmp/"
	{
		echo "apt-get -q update"
		echo "apt-get -q -y install --no-install-recommends rpm"
		echo "rpm -i --nodeps /tmp/gpubtree_$1-*.rpm"
		example "$1"
		echo "rpm -e gpubtree_$1"
		echo "rm -rf /gpubtree /tmp/gpubtree_*.rpm"
		echo "if find /usr -xdev -name '*gpubtree*' | grep .; then exit 1; fi"
	} | script
}

# ---- PGXN ----

package_pgxn()
{
	expect "a system that builds" build_system "$1" || return 0
	begin build "build-$(release_of "$1")"
	expect "pgxnclient installs it, and it answers" pgxn_install "$1" || true
	end build
}

pgxn_install()
{
	make_dist "$layer/tmp" || return 1
	bring_example
	{
		echo "apt-get -q update"
		echo "apt-get -q -y install --no-install-recommends pgxnclient unzip"
		echo "cd /tmp"
		echo "pgxnclient install --pg_config /usr/lib/postgresql/$1/bin/pg_config \
			/tmp/gpubtree-$version.zip"
		example "$1"
	} | script || return 1
	echo "measured: gpubtree-$version.zip: $(megabytes "$layer/tmp/gpubtree-$version.zip")"
}

# ---- Paths ----

package_paths()
{
	expect "a system that builds" build_system "$1" || return 0
	begin build "build-$(release_of "$1")"
	expect "it runs from a folder of its own, and finds the GPU code there" paths "$1" || true
	end build
}

# The library lies below /opt; below PostgreSQL's own folders is nothing of it, but to 17 the scripts,
# which are looked for there alone.
paths()
{
	copy_sources "$layer/gpubtree"
	in=/opt/gpubtree/usr
	scripts="cp $in/share/postgresql/$1/extension/* /usr/share/postgresql/$1/extension/"
	{
		echo "dynamic_library_path = '$in/lib/postgresql/$1/lib:\$libdir'"
		echo "shared_preload_libraries = 'gpubtree'"
		echo "unix_socket_directories = '/tmp'"
	} >"$layer/tmp/settings"
	if [ "$1" -ge 18 ]; then
		echo "extension_control_path = '$in/share/postgresql/$1:\$system'" >>"$layer/tmp/settings"
		scripts=true
	fi
	script <<-SCRIPT
		cd /gpubtree
		make -s -j"$(nproc)" CUDA=no with_llvm=no PG_CONFIG=/usr/lib/postgresql/$1/bin/pg_config
		make -s CUDA=no with_llvm=no PG_CONFIG=/usr/lib/postgresql/$1/bin/pg_config \
			DESTDIR=/opt/gpubtree install
		$scripts
		[ ! -e /usr/lib/postgresql/$1/lib/gpubtree.so ]
		# No library, which the message names that tells why it cannot be loaded
		echo none >$in/lib/postgresql/$1/lib/gpubtree_cuda.so
		chown -R postgres: /gpubtree
		cat >/tmp/as_postgres <<'USER'
			set -eu
			cd /tmp
			PATH=/usr/lib/postgresql/$1/bin:\$PATH
			initdb -D /tmp/data -A trust >/dev/null
			cat /tmp/settings >>/tmp/data/postgresql.conf
			pg_ctl -D /tmp/data -w -l /tmp/log start
			export PGHOST=/tmp
			sh /gpubtree/test/readme_example
			psql -X -d postgres -c "CREATE EXTENSION gpubtree" -At -c "SELECT status FROM gpubtree_device" |
				tee /tmp/status
			grep $in/lib/postgresql/$1/lib/gpubtree_cuda.so /tmp/status
			pg_ctl -D /tmp/data -w stop
		USER
		setpriv --reuid=postgres --regid=postgres --clear-groups sh /tmp/as_postgres
	SCRIPT
}

# ---- Docker ----

# The commands of a file's RUN lines run in layers of Debian's testing, which has the files of server 18
# where the official image has them.
package_docker()
{
	expect "a system with a server" server_system 18 || return 0
	file=$root/docker/$1
	builds=server-forky
	if [ "$1" = cuda.Dockerfile ]; then
		# nvcc knows compilers up to its own day's, as Debian 13 and the image of the FROM line have
		expect "a system to compile in" clean_system trixie || return 0
		builds=clean-trixie
	fi
	begin image-build $builds
	expect "the commands of its first stage" docker_build "$file" || { end image-build; return 0; }
	begin image server-forky
	expect "the commands of its second stage, and the example" docker_run "$file" || true
	end image
	end image-build
}

# stage N FILE: print what that stage of the file has, continued lines as one.
stage()
{
	sed -e ':more' -e '/\\$/{N;s/\\\n//;b more' -e '}' "$2" |
		awk -v wanted="$1" '$1 == "FROM" { stage++; next } stage == wanted'
}

# commands: of such lines, those of RUN, ENV and ARG, as a shell has them
commands()
{
	echo 'export PG_MAJOR=18'
	sed -n -e 's/^RUN //p' -e 's/^ENV /export /p' -e 's/^ARG \([A-Za-z_]*=.*\)/\1/p'
}

docker_build()
{
	copy_sources "$layer/gpubtree"
	if [ "${1##*/}" = cuda.Dockerfile ]; then
		[ -n "${GPB_CUDA:-}" ] || { echo "GPB_CUDA names no toolkit"; return 1; }
		bring_toolkit
	fi
	# Whether it compiles: for one kind of GPU, not optimized
	stage 1 "$1" | commands | sed 's/^CUDA_ARCHS=.*/CUDA_ARCHS=90/; s/^QUICK=.*/QUICK=2/' | script
}

docker_run()
{
	stage 2 "$1" >"$work/stage"
	stage_from=$work/image-build
	sed -n 's/^COPY --from=build //p' "$work/stage" >"$work/copies"
	while read -r from to; do
		if [ -d "$stage_from$from" ]; then from=$from/.; fi
		cp -a "$stage_from$from" "$layer$to"
	done <"$work/copies"
	mkdir -p "$layer/docker-entrypoint-initdb.d"
	bring_example
	{
		commands <"$work/stage"
		cat <<-'SCRIPT'
			chown -R postgres: /gpubtree
			cat >/tmp/as_postgres <<'USER'
				set -eu
				cd /tmp
				PATH=/usr/lib/postgresql/18/bin:$PATH
				initdb -D /tmp/data -A trust >/dev/null
				pg_ctl -D /tmp/data -w -l /tmp/log -o '-k /tmp -c shared_preload_libraries=gpubtree' start
				export PGHOST=/tmp
				[ ! -e /docker-entrypoint-initdb.d/gpubtree.sql ] ||
					psql -X -v ON_ERROR_STOP=1 -d postgres -f /docker-entrypoint-initdb.d/gpubtree.sql
				[ ! -e /usr/lib/postgresql/18/lib/gpubtree.so ] || sh /gpubtree/test/readme_example
				pg_ctl -D /tmp/data -w stop
			USER
			ls -l /usr/lib/postgresql/18/lib/gpubtree*
			setpriv --reuid=postgres --regid=postgres --clear-groups sh /tmp/as_postgres
		SCRIPT
	} | script
	echo "measured: $(find "$layer.new/usr/lib/postgresql" -name 'gpubtree*.so' -exec ls -s --block-size=K {} +)"
}
