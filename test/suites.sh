# How test/all runs each suite; sourced by test/all and test/lane, after test/lib.sh.  POSIX sh.
#
# A suite runs as a job: alone in its lane, beside the jobs of other lanes.  Each has a server, a
# log and an output directory of its own.  What jobs share they only read: the installed copies of
# PostgreSQL, and the sources beside them ($source_plain, $source_hold).

# record SUITE PASSED FAILED LOG: note the counts of this job's suite, in $job.counts, and its log
# if something failed, in $job.failure.  A suite of no test at all did not run.
record()
{
	p=$2
	f=$3
	[ $((p + f)) -gt 0 ] || f=1
	printf '%-15s %4d passed, %d failed  (%d s)\n' "$1" "$p" "$f" \
		$(($(date +%s) - suite_started)) | tee "$job.line"
	if [ "$f" -gt 0 ]; then
		echo "------ $1" >"$job.failure"
		cat "$4" >>"$job.failure"
	fi
	echo "$p $f" >"$job.counts"
}

# lines PATTERN FILE: print how many lines match.
lines() { grep -c -E "$1" "$2" || true; }

# server_log NAME: print what a server's log says beyond the errors that tests provoke.
server_log()
{
	[ ! -s "$work/run/$1/log" ] ||
		grep -E 'PANIC|FATAL|TRAP|WARNING|terminated' "$work/run/$1/log" |
		grep -vE 'ERROR:|STATEMENT:|CONTEXT:|DETAIL:' | tail -50
}

# run_regress NAME SETTING...: run the regression tests with these lines in the server's
# configuration.
run_regress()
{
	name=regress-$1
	shift
	out=$log-$name
	(
		start_server "$name" "$pg_plain" "$@" || exit 1
		as_user mkdir "$work/run/$name/output"
		on_server "$name" make -s -C "$source_plain" installcheck \
			EXTRA_REGRESS_OPTS="--outputdir='$work/run/$name/output'" \
			PG_CONFIG="$pg_plain/pg_config" CUDA=no || true
		cat "$work/run/$name/output/regression.diffs" 2>/dev/null || true
		stop_server "$name"
	) >"$out" 2>&1 || true
	[ ! -e "$work/run/$name/data/postmaster.pid" ] || stop_server "$name" immediate
	server_log "$name" >>"$out"
	record "$name" "$(lines "$passed_line" "$out")" "$(lines "$failed_line" "$out")" "$out"
}

# What pg_regress prints of a test, before 16 and since
passed_line='^(test| ).* \.\.\. ok |^ok [0-9]+ '
failed_line='^(test| ).* \.\.\. FAILED|^not ok [0-9]+ '

# Print the server's major version.
server_version() { "$PG_ORIGINAL" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/'; }

is_server_15() { [ "$(server_version)" = 15 ]; }

# Print test/hostile.conf as this server knows it: 16 gave one setting another name, and 19 has only
# one value for another.
hostile_settings()
{
	case $(server_version) in
	15) cat "$source_plain/test/hostile.conf" ;;
	16 | 17 | 18)
		sed 's/^force_parallel_mode/debug_parallel_query/' "$source_plain/test/hostile.conf"
		;;
	*)
		sed '/^standard_conforming_strings/d; s/^force_parallel_mode/debug_parallel_query/' \
			"$source_plain/test/hostile.conf"
		;;
	esac
}

run_isolation()
{
	out=$log-isolation
	specs=$(cd "$root/test/specs" && ls -- *.spec 2>/dev/null | sed 's/\.spec$//')
	(
		start_server isolation "$pg_hold" "gpubtree.device = 'host'" \
			"max_prepared_transactions = 10" "autovacuum = off" \
			"gpubtree.background_refresh = off" || exit 1
		pgxs=$("$pg_hold/pg_config" --pgxs)
		# Expected output is that of 15.
		path=$pg_hold:$PATH
		is_server_15 || path=$source_hold/test/normalized:$path
		# shellcheck disable=SC2086
		on_server isolation env PATH="$path" GPB_SERVER="$(server_version)" \
			"${pgxs%/makefiles/*}/test/isolation/pg_isolation_regress" \
			--bindir="$pg_hold" --inputdir="$source_hold/test" \
			--outputdir="$source_hold/test" --load-extension=gpubtree \
			--load-extension=gpubtree_test $specs || true
		cat "$source_hold/test/regression.diffs" 2>/dev/null || true
		stop_server isolation
	) >"$out" 2>&1 || true
	[ ! -e "$work/run/isolation/data/postmaster.pid" ] || stop_server isolation immediate
	server_log isolation >>"$out"
	p=$(lines "$passed_line" "$out")
	# A spec without an expected file ends the run.
	record isolation "$p" $(($(echo "$specs" | wc -w) - p)) "$out"
}

# run_tap NAME VARIABLES: run one TAP script with one seed.  It counts its assertions.
run_tap()
{
	run_script "$1" "$2" "$pg_hold" "$source_hold" "$job.failure"
	echo "$p $f" >"$job.counts"
}

# run_script NAME VARIABLES BIN SOURCE FAILURES: run one TAP script with one seed, on the PostgreSQL
# of that directory of programs; $p and $f say how many assertions passed and failed.  What failed
# is appended to FAILURES.  A session of a script may take ten minutes, not the three of
# PostgreSQL's modules, which count from its start: other lanes have the processors too.
run_script()
{
	name=$1
	bin=$3
	source=$4
	seed=${2%% *}
	seed=${seed#GPB_SEED=}
	what=$name
	[ "$seed" = 1 ] || what="$name, seed $seed"
	script_started=$(date +%s)
	pgxs=$("$bin/pg_config" --pgxs)
	pgxs=${pgxs%/src/makefiles/*}
	# Two jobs may run the same script, on different builds.
	directory=$work/run/tap/${job##*/}-$name-$seed
	script_output=$job-script
	as_user mkdir -p "$directory"
	# PostgreSQL's modules run psql and initdb from PATH, as $user.
	# shellcheck disable=SC2086
	status=0
	(cd "$source/test" && as_user env HOME="$work/run" TMPDIR="$work/run" \
		TESTDIR="$directory" TESTDATADIR="$directory/tmp_check" \
		TESTLOGDIR="$directory/tmp_check/log" PATH="$source/test/initdb:$bin:$PATH" GPB_BINDIR="$bin" \
		GPB_TEMPLATE="$work/run/template" PGPORT=65432 \
		PG_REGRESS="$pgxs/src/test/regress/pg_regress" PG_TEST_PORT_DIR="$work/run" \
		PG_TEST_TIMEOUT_DEFAULT="${PG_TEST_TIMEOUT_DEFAULT:-600}" \
		PERL_HASH_SEED=0 PG_TEST_NOCLEAN=1 GPB_CUDA="$cuda" $2 \
		perl -I "$pgxs/src/test/perl" -I "$source/test/t" "$source/test/t/$name.pl") \
		</dev/null >"$script_output" 2>&1 || status=$?
	p=$(lines '^ok ' "$script_output")
	f=$(lines '^not ok ' "$script_output")
	# Dying, or stopping short of the plan, is a failure of its own.
	if [ $status -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
	if [ "$p" -eq 0 ] && [ "$f" -eq 0 ]; then f=1; fi
	printf '  %-34s %4d passed, %d failed  (%d s)\n' "$what" "$p" "$f" \
		$(($(date +%s) - script_started))
	if [ "$f" -gt 0 ]; then
		{
			echo "------ $what"
			grep -A 8 '^not ok' "$script_output" | head -80
			echo "--- the end of its output"
			tail -30 "$script_output"
			for file in "$directory"/tmp_check/log/*; do
				[ -e "$file" ] || continue
				echo "--- ${file##*/}"
				tail -30 "$file"
			done
		} >>"$5"
	fi
	[ -n "$keep_work" ] || rm -rf "$directory"
}

# Run regression and TAP tests on the build "sanitize".  First the server is made to do what the
# sanitizers must catch.
run_sanitize()
{
	pg_sanitize=$work/sanitize$("$PG_ORIGINAL" --bindir)
	source_sanitize=$work/sanitize/source
	out=$log-sanitize
	: >"$out"
	(
		start_server sanitize "$pg_sanitize" "gpubtree.device = 'host'" || exit 1
		on_server sanitize psql -X -q -c "CREATE FUNCTION gpubtree_test_sanitizers(text)
			RETURNS int LANGUAGE c STRICT AS 'gpubtree'"
		while IFS='|' read -r defect says; do
			on_server sanitize psql -X -q -c \
				"SELECT gpubtree_test_sanitizers('$defect')" || true
			if grep -Eq "$says" "$work/run/sanitize/log"; then
				echo "caught: $defect"
			else
				echo "NOT CAUGHT: $defect"
			fi
			as_user cp /dev/null "$work/run/sanitize/log"
			# The server starts anew after each defect.
			for _ in $(seq 600); do
				! on_server sanitize psql -X -q -c 'SELECT 1' || break
				sleep 1
			done
		done <<-DEFECTS
			read past a chunk|AddressSanitizer: heap-buffer-overflow
			write past a chunk|AddressSanitizer: heap-buffer-overflow
			read past a core chunk|AddressSanitizer: heap-buffer-overflow
			read a freed chunk|AddressSanitizer: heap-use-after-free
			shift by too much|runtime error: shift exponent
			assertion|TRAP: [Ff]ailed ?Assert
		DEFECTS
		on_server sanitize make -s -C "$source_sanitize" installcheck \
			PG_CONFIG="$pg_sanitize/pg_config" CUDA=no || true
		cat "$source_sanitize/regression.diffs" 2>/dev/null || true
		stop_server sanitize
	) >"$out" 2>&1 || true
	[ ! -e "$work/run/sanitize/data/postmaster.pid" ] || stop_server sanitize immediate
	grep -A 30 -E 'ERROR: AddressSanitizer|runtime error|TRAP' "$work/run/sanitize/log" \
		>>"$out" || true
	p=$(lines "$passed_line|^caught: " "$out")
	f=$(lines "$failed_line|^NOT CAUGHT: " "$out")
	[ $((p + f)) -gt 6 ] || f=$((f + 1))
	total_passed=$p
	total_failed=$f
	sanitize_scripts=
	for script in "$source_sanitize"/test/t/*.pl; do
		script=$(basename "$script" .pl)
		! is_chosen "$script" "${SANITIZE_TAP:-061}" ||
			sanitize_scripts="$sanitize_scripts $script"
	done
	for script in $sanitize_scripts; do
		seeds "$script" >"$job-seeds"
		while read -r variables; do
			run_script "$script" "$variables" "$pg_sanitize" "$source_sanitize" "$out"
			total_passed=$((total_passed + p))
			total_failed=$((total_failed + f))
		done <"$job-seeds"
	done
	record sanitize $total_passed $total_failed "$out"
}

# Replace the server of the build "sanitize" by a script that preloads AddressSanitizer's library,
# which must come first.
sanitize_server()
{
	gcc -shared -fPIC -O1 -fno-builtin -o "$work/sanitize/no_gettext.so" \
		"$root/test/sanitize/no_gettext.c" || return 1
	server_program=$work/sanitize$("$PG_ORIGINAL" --bindir)/postgres
	mv "$server_program" "$server_program.plain"
	cat >"$server_program" <<-SCRIPT
		#!/bin/bash
		export LD_PRELOAD='$(gcc -print-file-name=libasan.so) $work/sanitize/no_gettext.so'
		export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:detect_stack_use_after_return=0:malloc_context_size=1
		export UBSAN_OPTIONS=print_stacktrace=1:abort_on_error=1
		exec -a "\$0" "\$0.plain" "\$@"
	SCRIPT
	chmod 755 "$server_program"
}

# Compile the CUDA object for all GPUs that users have, and check that it exports its one symbol alone.
# Nothing here runs it, so it is compiled as quickly as nvcc can, with the same errors and warnings, and
# not compressed; and of GPUs that are alike for one: ptxas reads the same PTX for Ampere and Hopper, and
# for both kinds of Blackwell.  The suites that run it, on a machine with a GPU, optimize it.
#
# Sources that the Makefile does not have read once for all (CUDA_ONCE) are read once for compute
# capabilities below 8.0 and once for all others, which is all that they ask about the architecture
# (CUB asks more); machine code is made for each.
run_cuda_build()
{
	out=$log-cuda-build
	p=0
	f=1
	read_for='compute_$(if $(filter 7%,$a),$a,80)'
	for_each='$(foreach a,$(filter-out 80 100,$(CUDA_ARCHS)),-gencode arch='
	copy_sources "$work/cuda-build"
	if asks_of_ampere_alone "$work/cuda-build/cuda" >"$out" 2>&1 &&
		cuda_make QUICK=2 NVCC_COMPRESS= NVCC_ARCHS="${for_each}compute_75,code=sm_\$a)" \
			NVCC_ARCHS_EACH="$for_each$read_for,code=sm_\$a)" gpubtree_cuda.so >>"$out" 2>&1 &&
		nm -D --defined-only "$work/cuda-build/gpubtree_cuda.so" >"$work/exports" &&
		[ "$(awk '{ print $3 }' "$work/exports")" = gpb_cuda_device ]; then
		p=1
		f=0
	fi
	record cuda-build $p $f "$out"
}

# asks_of_ampere_alone FOLDER: do its CUDA sources ask only whether the architecture is below 8.0, and
# those that are read once, and headers, nothing?  Lines that ask anything else are printed.
asks_of_ampere_alone()
{
	! grep -rn --include='*.cu*' -e __CUDA_ARCH -e NV_IF_TARGET "$1" |
		grep -v '/ranges_short\.cu:[0-9]*:#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800$'
}

# cuda_make ARGUMENT...: make, in the copy of the suite cuda-build
cuda_make()
{
	nice make -s -C "$work/cuda-build" -j"$(nproc)" PG_CONFIG="$PG_ORIGINAL" WERROR=yes "$@"
}

# Print the path of the server's clang, or nothing where the server is built without LLVM.
bitcode_clang()
{
	makefile=$("$PG_ORIGINAL" --pgxs)
	makefile=${makefile%/makefiles/pgxs.mk}/Makefile.global
	! grep -q '^with_llvm[[:space:]]*= yes' "$makefile" ||
		sed -n 's/^CLANG[[:space:]]*= *//p' "$makefile"
}

# Read all sources as the server's clang does.  Most of its time would go to PostgreSQL's headers: those
# of test/headers.h are read once for all sources that include postgres.h.  That each source includes
# what it needs is what the build that users make shows.
run_bitcode()
{
	out=$log-bitcode
	p=0
	f=1
	clang="$(bitcode_clang) -Werror"
	header=$work/headers.pch
	with_header=$(bitcode_names -l)
	without_header=$(bitcode_names -L)
	# shellcheck disable=SC2086
	if precompile_headers "$clang" "$header" >"$out" 2>&1 &&
		bitcode_make "$clang -fsyntax-only -include-pch $header" $with_header >>"$out" 2>&1 &&
		bitcode_make "$clang -fsyntax-only" $without_header >>"$out" 2>&1 &&
		[ "$(echo $with_header $without_header | wc -w)" = \
			"$(find "$source_plain/src" -name '*.c' | wc -l)" ] && [ ! -s "$out" ]; then
		p=1
		f=0
	fi
	record bitcode $p $f "$out"
}

# bitcode_names -l|-L: print the targets of the sources that include postgres.h, or of those that do
# not, by what the build noted beside the objects.
bitcode_names()
{
	(cd "$source_plain" && find src -name '*.d' -exec grep "$1" '/postgres\.h' {} +) |
		sed 's/\.d$/.bc/'
}

# bitcode_make CLANG ARGUMENT...: make in the build "plain", with that command for clang
bitcode_make()
{
	command=$1
	shift
	make -s -C "$source_plain" -j"$(nproc)" PG_CONFIG="$PG_ORIGINAL" CUDA=no \
		CLANG="$command" with_llvm=yes "$@"
}

# precompile_headers CLANG FILE: write test/headers.h there as clang reads it, with the sources' options.
precompile_headers()
{
	compile=$(bitcode_make "$1" --eval='print: ; @echo "$(COMPILE.c.bc)"' print) || return 1
	# shellcheck disable=SC2086
	(cd "$source_plain" && $compile -x c-header -o "$2" test/headers.h)
}

# run_c SUITE DIRECTORY COMMAND...: run a program there that ends with "N passed, N failed".
run_c()
{
	suite=$1
	directory=$2
	shift 2
	out=$log-$suite
	status=0
	(cd "$directory" && nice "$@") </dev/null >"$out" 2>&1 || status=$?
	counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$out" | tail -1)
	p=${counts% *}
	f=${counts#* }
	if [ $status -ne 0 ] && [ "${f:-0}" -eq 0 ]; then f=1; fi
	record "$suite" "${p:-0}" "${f:-0}" "$out"
}

# run_build NAME: build what suites run on, see test/all: plain, as users do, hold or sanitize.
run_build()
{
	# No debugger looks at these: what it would read takes a fifth of the compiler's time.
	flags=-g0
	GPB_OBJS=
	[ "$1" = plain ] || flags="-g0 -DGPB_HOLD_POINTS -DUSE_ASSERT_CHECKING=1"
	if [ "$1" = sanitize ]; then
		flags="$flags -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined"
		flags="$flags -fno-sanitize-recover=all"
		GPB_OBJS=test/sanitize/chunks.o
	fi
	export GPB_OBJS
	# shellcheck disable=SC2086
	build "$1" $flags && { [ "$1" != sanitize ] || sanitize_server; }
}

# run_suite SUITE [SCRIPT VARIABLES]: run one suite, or one TAP script, as the job $job.
run_suite()
{
	suite_started=$(date +%s)
	case $1 in
	tap) run_tap "$2" "$3" ;;
	regress-settings)
		hostile_settings >"$work/run/hostile.conf"
		run_regress settings "gpubtree.device = 'host, host'" "include '$work/run/hostile.conf'"
		;;
	regress-*) run_regress "${1#*-}" "gpubtree.device = '${1#*-}'" ;;
	cuda-build) run_cuda_build ;;
	bitcode) run_bitcode ;;
	kernel-*)
		run_c "$1" "$work/kernel" env TEST_EXTRA=-g0 EMULATED_EXTRA=-g0 \
			sh test/kernel/run "${1#*-}"
		;;
	unit) run_c unit "$source_plain" env TEST_EXTRA=-g0 sh test/unit/run ;;
	isolation) run_isolation ;;
	sanitize) run_sanitize ;;
	esac
}
