# The chroots of later servers, for test/all-servers, test/upgrade and test/bench/instructions, and
# servers of other systems in them; to be sourced after test/lib.sh.  $chroots is where they are, or
# are made.  POSIX sh.

debian=http://deb.debian.org/debian
ubuntu=http://archive.ubuntu.com/ubuntu

# release VERSION: print where that PostgreSQL comes from.  Debian has no 16, Ubuntu has; 19 is in
# Debian's experimental until it is released, over unstable.
release()
{
	case $1 in
	16) echo noble ;;
	17) echo trixie ;;
	18) echo forky ;;
	19) echo experimental ;;
	*) die "no server $1" ;;
	esac
}

# Print the file of Ubuntu's keys, which Debian's 13 has in a package.
ubuntu_keys()
{
	keys=usr/share/keyrings/ubuntu-archive-keyring.gpg
	if [ -e "/$keys" ]; then
		echo "/$keys"
		return
	fi
	make_chroot 17 >&2 || return 1
	[ -e "$chroots/trixie/$keys" ] ||
		chroot "$chroots/trixie" sh -c 'apt-get -q update &&
			apt-get -q -y install ubuntu-keyring' </dev/null >&2
	echo "$chroots/trixie/$keys"
}

# sources VERSION: print the lines of sources.list that the server comes from.  Ubuntu's release has
# the first version of its server, and later ones beside it.
sources()
{
	case $1 in
	16)
		keys=$(ubuntu_keys) || return 1
		echo "deb [signed-by=$keys] $ubuntu noble main universe"
		echo "deb [signed-by=$keys] $ubuntu noble-updates main universe"
		;;
	19)
		echo "deb $debian sid main"
		echo "deb $debian experimental main"
		;;
	*) echo "deb $debian $(release "$1") main" ;;
	esac
}

# make_chroot VERSION: make its chroot, unless it is there, and put into it what it may have.
make_chroot()
{
	[ -e "$chroots/$(release "$1")/gpubtree.made" ] || install_server "$1" || return 1
	[ "$1" != 18 ] || add_timescaledb
}

# install_server VERSION: make the chroot of that server, with what builds and tests need.  The
# server's headers are unpacked alone: their package wants LLVM and clang, which take most of the
# time and the room.  Of apt's settings here the chroot gets those of the network.
install_server()
{
	chroot=$chroots/$(release "$1")
	echo "making the chroot $chroot"
	rm -rf "${chroot:?}"
	sources "$1" >"$work/sources-$1" || return 1
	apt-config dump | grep -E '^Acquire::(Check-Valid-Until|https?::Proxy) ' >"$work/apt-$1" || true
	# Of experimental, what belongs to the server.
	printf '%s\n' "Package: src:postgresql-$1" 'Pin: release a=experimental' 'Pin-Priority: 990' \
		>"$work/pin-$1"
	packages=make,gcc,g++,libc6-dev,perl,libipc-run-perl,diffutils,tzdata-legacy,postgresql-$1
	suite=$(release "$1")
	[ "$1" != 19 ] || suite=sid
	timeout 900 mmdebstrap --variant=apt --mode=root --format=directory --include="$packages" \
		--aptopt="$work/apt-$1" \
		--setup-hook="mkdir -p \"\$1/etc/apt/preferences.d\"" \
		--setup-hook="cp '$work/pin-$1' \"\$1/etc/apt/preferences.d/postgresql\"" \
		--customize-hook="chroot \"\$1\" sh -ec 'cd /tmp &&
			apt-get -q download postgresql-server-dev-$1 &&
			dpkg -x postgresql-server-dev-$1_*.deb / && rm postgresql-server-dev-$1_*.deb'" \
		"$suite" "$chroot" - <"$work/sources-$1" || return 1
	touch "$chroot/gpubtree.made"
}

# has_timescaledb: is TimescaleDB in the chroot of 18?
has_timescaledb()
{
	[ -e "$chroots/forky/usr/share/postgresql/18/extension/timescaledb.control" ]
}

# add_timescaledb: install it there, unless it is.  Debian has it for 18 alone, and the tests do with
# a release that lacks it.
add_timescaledb()
{
	! has_timescaledb || return 0
	install="chroot $chroots/forky apt-get -q -y install --no-install-recommends"
	package=postgresql-18-timescaledb
	$install $package </dev/null ||
		{ chroot "$chroots/forky" apt-get -q update </dev/null && $install $package </dev/null; } ||
		echo "no $package"
}

# find_chroots: set $chroots.  Needs $work.
find_chroots()
{
	[ "$(id -u)" = 0 ] || die "chroots need root"
	command -v mmdebstrap >/dev/null || apt-get -q -y install mmdebstrap </dev/null
	chroots=${GPB_CHROOTS:-$work/chroots}
	mkdir -p "$chroots"
}

# in_chroot VERSION COMMAND...: run the command in that server's chroot, see in_root.
in_chroot()
{
	name=$(release "$1")
	shift
	in_root "$chroots/$name" "$@"
}

# in_root DIRECTORY [NAME=VALUE...] COMMAND...: run the command with that directory as its root, with
# processes, mounts and shared memory of its own, which end with it.
in_root()
{
	unshare --mount --pid --fork --kill-child sh -eu -c '
		mount -t proc proc "$1/proc"
		mount --rbind /dev "$1/dev"
		mount -t tmpfs tmpfs "$1/dev/shm"
		root=$1
		shift
		exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
			"$@"' \
		sh "$@" </dev/null
}

# ---- servers of several systems in one chroot ----

# Where build_servers() puts them, seen from inside
here=/gpubtree.servers

programs() { echo "$here/$1/usr/lib/postgresql/$1/bin"; }

# copy_libraries DIRECTORY VERSION: beside that copy of PostgreSQL, the libraries of this system that its
# programs need, but for the C library's, in DIRECTORY/lib.
copy_libraries()
{
	mkdir "$1/lib"
	for file in "$1/usr/lib/postgresql/$2"/bin/* "$1/usr/lib/postgresql/$2"/lib/*.so; do
		ldd "$file" 2>/dev/null || true
	done | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
		grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv)\.so' |
		while read -r library; do
			cp -L "$library" "$1/lib/"
		done
}

# use_libraries DIRECTORY VERSION PLACE: let its programs use those libraries in a chroot that has the
# directory at PLACE.
use_libraries()
{
	for program in "$1/usr/lib/postgresql/$2/bin"/*; do
		mv "$program" "$program.real"
		printf '#!/bin/bash\nLD_LIBRARY_PATH=%s exec -a "$0" "$0.real" "$@"\n' "$3/lib" >"$program"
		chmod 755 "$program"
	done
}

# build_with_libraries VERSION: build gpubtree and install it into a copy of PostgreSQL,
# $work/VERSION, with those libraries.
build_with_libraries()
{
	choose_user
	build "$1" || return 1
	copy_libraries "$work/$1" "$1"
}

# build_servers VERSION...: build gpubtree on each, on 15 outside of chroots, and bring the servers
# into the chroot of the last one, where they are $here/VERSION, the sources $here/source, and $in is
# $here as seen from outside, until this script ends.  Needs make_work() and find_chroots().
build_servers()
{
	built=$*
	trap 'status=$?; remove_servers; clean_up $status' EXIT
	for server; do
		if [ "$server" = 15 ]; then
			build_with_libraries 15 || return 1
			continue
		fi
		make_chroot "$server" || return 1
		in=$chroots/$(release "$server")$here
		rm -rf "$in"
		copy_sources "$in/source"
		in_chroot "$server" PG_CONFIG="/usr/lib/postgresql/$server/bin/pg_config" sh -euc \
			'root=$1/source work=$1; . "$root/test/lib.sh"; . "$root/test/chroots.sh"
			build_with_libraries "$2"' sh "$here" "$server" || return 1
	done
	for other; do
		case $other in
		"$server") ;;
		15) cp -a "$work/15" "$in/" ;;
		*) cp -a "$chroots/$(release "$other")$here/$other" "$in/" ;;
		esac
	done
}

# Remove from the chroots what build_servers() has put there.
remove_servers()
{
	for server in $built; do
		[ "$server" = 15 ] || rm -rf "$chroots/$(release "$server")$here"
	done
}
