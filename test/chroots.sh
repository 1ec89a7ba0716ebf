# The chroots of later servers, for test/all-servers and test/upgrade; to be sourced after
# test/lib.sh.  $chroots is where they are, or are made.  POSIX sh.

debian=http://deb.debian.org/debian
ubuntu=http://archive.ubuntu.com/ubuntu

# release VERSION: print where that PostgreSQL comes from.  Debian has no 16, Ubuntu has.
release()
{
	case $1 in
	16) echo noble ;;
	17) echo trixie ;;
	18) echo forky ;;
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
		chroot "$chroots/trixie" apt-get -q -y install ubuntu-keyring </dev/null >&2
	echo "$chroots/trixie/$keys"
}

# make_chroot VERSION: make its chroot, unless it is there, and put into it what it may have.
make_chroot()
{
	name=$(release "$1")
	[ -e "$chroots/$name/gpubtree.made" ] || debootstrap_server "$1" || return 1
	[ "$1" != 18 ] || add_timescaledb
}

# debootstrap_server VERSION: make the chroot of that server.
debootstrap_server()
{
	name=$(release "$1")
	echo "making the chroot $chroots/$name"
	rm -rf "${chroots:?}/$name"
	mirror=$debian
	script=sid
	options=
	if [ "$1" = 16 ]; then
		keys=$(ubuntu_keys) || return 1
		name=noble
		mirror=$ubuntu
		script=gutsy
		options="--components=main,universe --keyring=$keys"
	fi
	packages=make,gcc,g++,libc6-dev,perl,libipc-run-perl,diffutils,tzdata-legacy
	packages=$packages,postgresql-$1,postgresql-server-dev-$1
	# An old debootstrap does not know later releases: these scripts serve all of them.
	# shellcheck disable=SC2086
	debootstrap --variant=minbase $options --include="$packages" "$name" "$chroots/$name" \
		"$mirror" "/usr/share/debootstrap/scripts/$script" || return 1
	# Ubuntu's release has the first version of its server, and later ones beside it.
	if [ "$1" = 16 ]; then
		echo "deb $ubuntu noble-updates main universe" >>"$chroots/$name/etc/apt/sources.list"
		chroot "$chroots/$name" apt-get -q update </dev/null &&
			chroot "$chroots/$name" apt-get -q -y install postgresql-16 \
				postgresql-server-dev-16 </dev/null || return 1
	fi
	touch "$chroots/$name/gpubtree.made"
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
	command -v debootstrap >/dev/null || apt-get -q -y install debootstrap </dev/null
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
