# Shared by test/all, test/demo, test/kernel/run and others; to be sourced, with $root set to the
# repository's root.  POSIX sh.
#
# Nothing outside one temporary directory, $work, is written to: gpubtree is
# compiled in a copy of the sources and installed into a copy of PostgreSQL, and
# servers run from that copy, on sockets inside $work.

# A server may take ten minutes to start or stop: other lanes have the processors too.
export PGCTLTIMEOUT="${PGCTLTIMEOUT:-600}"

PG_ORIGINAL=${PG_CONFIG:-/usr/lib/postgresql/15/bin/pg_config}

die()
{
	echo "$0: $*" >&2
	exit 1
}

# Servers refuse to run as root, so everything that is not a build runs as $user.
if [ "$(id -u)" != 0 ]; then
	choose_user() { user=$(id -un); }
	as_user() { "$@"; }
else
	choose_user()
	{
		user=postgres
		id $user >/dev/null 2>&1 || user=nobody
	}
	as_user()
	{
		setpriv --reuid="$user" --regid="$(id -gn $user)" --clear-groups "$@"
	}
fi

# $work: the temporary directory; $user may write to $work/run.  On exit, servers that
# start_server started are stopped and the directory is removed.
make_work()
{
	choose_user
	work=$(mktemp -d "${TMPDIR:-/tmp}/gpubtree.XXXXXX")
	chmod 755 "$work"
	mkdir "$work/run"
	[ "$(id -u)" != 0 ] || chown "$user:" "$work/run"
	trap clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
}

# clean_up [STATUS]: end with that status, or the last command's.
clean_up()
{
	status=${1:-$?}
	trap - EXIT
	end_lanes
	end_servers
	if [ -n "${keep_work:-}" ]; then
		echo "kept: $work"
	else
		rm -rf "$work"
	fi
	exit $status
}

# $lanes: process groups that run jobs (test/all).  What still runs of them is ended; TAP scripts
# stop their servers then.
lanes=
end_lanes()
{
	for lane in $lanes; do
		kill -TERM -- "-$lane" 2>/dev/null || continue
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			kill -0 -- "-$lane" 2>/dev/null || break
			sleep 1
		done
		kill -KILL -- "-$lane" 2>/dev/null || true
	done
}

# Stop all servers below $work/run at once.  A server works in its data directory, which tells it
# from another process that has the number that a file of a dead server names.
end_servers()
{
	find "$work/run" -name postmaster.pid 2>/dev/null | while read -r pid_file; do
		pid=$(head -n 1 "$pid_file" 2>/dev/null) || continue
		[ "/proc/$pid/cwd" -ef "${pid_file%/*}" ] || continue
		kill -QUIT "$pid" 2>/dev/null || continue
		for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
			kill -0 "$pid" 2>/dev/null || break
			sleep 1
		done
	done
}

# seeds TEST: print the environment of each run of that random test, one a line; see test/seeds.
# GPB_SEED in the environment overrules that file.
seeds()
{
	if [ -n "${GPB_SEED:-}" ]; then
		echo "GPB_SEED=$GPB_SEED"
		return
	fi
	echo "GPB_SEED=1"
	sed -n "s/ *#.*//; s/^$1[[:space:]][[:space:]]*\([0-9]\)/GPB_SEED=\1/p" "$root/test/seeds"
}

# seed_numbers TEST: print the seeds alone; for "random" one is made up.
seed_numbers()
{
	seeds "$1" | while read -r seed variables; do
		seed=${seed#GPB_SEED=}
		[ "$seed" != random ] || seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
		echo "$seed"
	done
}

# Print the compute capability of the first GPU as CUDA_ARCHS wants it, 90 say; nothing without one.
gpu_arch()
{
	nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d '. '
}

# is_chosen NAME PREFIXES: does the name begin with one of the prefixes?
is_chosen()
{
	for prefix in $2; do
		case $1 in "$prefix"*) return 0 ;; esac
	done
	return 1
}

# not_tested WHAT: say that, and have sum_counts count it.
not_tested() { printf '%s\n' "$1 IS NOT TESTED" '1 skipped'; }

# sum_counts PROGRAMS: pass on what that many programs print, and sum up their last lines, "N
# passed, N failed", behind which ", N skipped" may stand, and what not_tested prints.  A program that
# printed no such line has died, and counts as a failure.
sum_counts()
{
	programs=$1
	passed=0
	failed=0
	skipped=0
	while IFS= read -r line; do
		s=0
		counts=$line
		case $line in
		"1 skipped")
			skipped=$((skipped + 1))
			continue
			;;
		*" failed, "[0-9]*" skipped")
			s=${line##* failed, }
			s=${s%% *}
			counts=${line%, "$s" skipped}
			;;
		esac
		case $counts in
		[0-9]*" passed, "[0-9]*" failed")
			p=${counts%% *}
			f=${counts##* passed, }
			f=${f%% *}
			if [ "$counts" = "$p passed, $f failed" ] && [ "$p$f$s" -ge 0 ] 2>/dev/null; then
				passed=$((passed + p))
				failed=$((failed + f))
				skipped=$((skipped + s))
				programs=$((programs - 1))
				continue
			fi
			;;
		esac
		printf '%s\n' "$line"
	done
	failed=$((failed + programs))
	if [ $skipped -gt 0 ]; then
		echo "$passed passed, $failed failed, $skipped skipped"
	else
		echo "$passed passed, $failed failed"
	fi
	[ $failed -eq 0 ]
}

# Functions that tell whether there is an NVIDIA device, a compiler for it, and both
have_gpu() { [ -e /dev/nvidia0 ] || [ -e /dev/nvidiactl ] || nvidia-smi -L >/dev/null 2>&1; }
have_nvcc() { command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; }
have_cuda() { have_gpu && have_nvcc; }

# copy_sources DIRECTORY: copy the sources there, without what was compiled from them.
copy_sources()
{
	mkdir -p "$1"
	(cd "$root" && tar -cf - --exclude=./.git --exclude='*.o' --exclude='*.so' \
		--exclude='*.bc' --exclude=./.gpu-host .) |
		tar -C "$1" -xf -
}

# build NAME [CFLAGS...]: compile a copy of the sources into $work/NAME/source and
# install it into a private copy of PostgreSQL, $work/NAME/... (a copied PostgreSQL finds
# its files beside its programs).  With -DGPB_HOLD_POINTS among the flags, the Makefile builds and
# installs the test module too.
build()
{
	destination=$work/$1
	shift
	flags=$*
	copy_sources "$destination/source"
	build_cuda=no
	archs=
	if have_cuda; then
		build_cuda=yes
		archs=$(gpu_arch)
	fi
	for directory in $("$PG_ORIGINAL" --bindir) $("$PG_ORIGINAL" --pkglibdir) \
		$("$PG_ORIGINAL" --sharedir); do
		mkdir -p "$destination$directory"
		(cd "$directory" && tar -cf - --exclude=./bitcode --exclude='./llvmjit*' .) |
			tar -C "$destination$directory" -xf -
	done
	# The test module uses functions of gpubtree, which PostgreSQL 16 and later hide otherwise.
	set --
	case $flags in *GPB_HOLD_POINTS*) set -- CFLAGS_SL_MODULE= ;; esac
	# Headers are compiled once, but where ccache stands for the compiler and knows the objects, and in
	# the build that users make, which finds what a source forgets to include.
	case $flags:$(readlink -f "$(command -v gcc)") in
	*ccache*) ;;
	*GPB_HOLD_POINTS*) set -- "$@" PRECOMPILE=yes ;;
	esac
	make -s -C "$destination/source" -j"$(nproc)" PG_CONFIG="$PG_ORIGINAL" WERROR=yes "$@" \
		with_llvm=no CUDA=$build_cuda ${archs:+CUDA_ARCHS=$archs} GPB_CFLAGS="$flags" &&
		make -s -C "$destination/source" PG_CONFIG="$PG_ORIGINAL" "$@" with_llvm=no \
			CUDA=$build_cuda GPB_CFLAGS="$flags" DESTDIR="$destination" install || return 1
	[ "$(id -u)" != 0 ] || chown -R "$user:" "$destination/source"
}

# start_server NAME BIN [SETTING...]: start a server with gpubtree preloaded in $work/run/NAME.
start_server()
{
	server=$work/run/$1
	bin=$2
	shift 2
	if [ ! -d "$server/data" ]; then
		as_user mkdir -p "$server"
		as_user env LC_ALL=C "$bin/initdb" -D "$server/data" -A trust -U postgres \
			--no-sync --no-instructions -E UTF8 >"$server.initdb" 2>&1 ||
			{ cat "$server.initdb"; return 1; }
		{
			echo "unix_socket_directories = '$server'"
			echo "listen_addresses = ''"
			echo "shared_preload_libraries = 'gpubtree'"
			echo "fsync = off"
			echo "max_wal_size = 4GB"
			echo "timezone = 'UTC'"
		} >>"$server/data/postgresql.conf"
	fi
	echo "$bin" >"$server/bin"
	: >"$server/data/test.conf"
	for setting in "$@"; do
		echo "$setting" >>"$server/data/test.conf"
	done
	grep -q test.conf "$server/data/postgresql.conf" ||
		echo "include 'test.conf'" >>"$server/data/postgresql.conf"
	as_user env LC_ALL=C "$bin/pg_ctl" -D "$server/data" -w -l "$server/log" start \
		>/dev/null || { cat "$server/log"; return 1; }
}

stop_server() # NAME [MODE]
{
	as_user env LC_ALL=C "$(cat "$work/run/$1/bin")/pg_ctl" -D "$work/run/$1/data" \
		-m "${2:-fast}" -w stop >/dev/null
}

# on_server NAME COMMAND...: run the command as $user, with the PG variables of that server, in a
# directory that $user may enter.
on_server()
(
	server=$work/run/$1
	shift
	cd "$server"
	as_user env LC_ALL=C HOME="$work/run" PGHOST="$server" PGPORT=5432 PGUSER=postgres \
		PGDATABASE=postgres PATH="$(cat "$server/bin"):$PATH" "$@"
)
