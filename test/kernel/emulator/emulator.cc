/*-------------------------------------------------------------------------
 *
 * emulator.cc
 *	  Fibers, streams and memory of the emulated CUDA; see cuda_runtime.h.
 *
 *-------------------------------------------------------------------------
 */
#include "cuda_runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

#include <deque>
#include <map>
#include <vector>

dim3		threadIdx;
dim3		blockIdx;
dim3		blockDim;
dim3		gridDim;

static void
fail(const char *what)
{
	fprintf(stderr, "emulated CUDA: %s (block %u, thread %u)\n", what, blockIdx.x, threadIdx.x);
	fflush(stderr);
	_exit(3);
}

/* ---- fibers ---- */

#define STACK_BYTES		(192 * 1024)
/* Stacks begin at different places of their pages, or all would be in the same cache sets. */
#define STACK_SHIFT		1088
#define STACK_SHIFTS	64
#define MOST_THREADS	1024

struct Meeting
{
	unsigned	first;			/* number of the first thread */
	unsigned	size;
	unsigned	arrived;
	uint64_t	number;			/* of completed meetings */
	int			operation;
	/* of meetings with an even and an odd number */
	uint64_t	value[2][32];
	uint32_t	votes[2];
};

/*
 * Where a flow of control was left.  On x86-64 a switch costs a few nanoseconds: the registers
 * that a function must keep are on the stack that is left.  Elsewhere swapcontext() does it, with
 * two system calls.
 */
#ifdef __x86_64__
typedef void *Place;

extern "C" void emulated_switch(Place *left, Place *entered);
__asm__(
	".text\n"
	".type emulated_switch, @function\n"
	"emulated_switch:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq (%rsi), %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size emulated_switch, . - emulated_switch\n");

/* The stack as a switch would leave it just before the function's first instruction */
static void
make_place(Place *place, char *stack, size_t size, void (*function) (void))
{
	/* six registers, the address to go to, and that function's return address, never used */
	void	  **top = (void **) (stack + size) - 8;

	memset(top, 0, 8 * sizeof(void *));
	top[6] = (void *) function;
	*place = top;
}
#else
typedef ucontext_t Place;

static void
emulated_switch(Place *left, Place *entered)
{
	swapcontext(left, entered);
}

static void
make_place(Place *place, char *stack, size_t size, void (*function) (void))
{
	getcontext(place);
	place->uc_stack.ss_sp = stack;
	place->uc_stack.ss_size = size;
	place->uc_link = NULL;
	makecontext(place, function, 0);
}
#endif

struct Fiber
{
	Place		place;
	char	   *stack;
};

static Fiber fibers[MOST_THREADS];
static Place scheduler;
static Meeting warps[MOST_THREADS / 32];
static Meeting whole_block;
static EmulatedWork *running;

/*
 * Says in which order the threads of the running block run, and which of them is the first.  It
 * differs from block to block and from launch to launch: a kernel of one block runs in many orders
 * too, and the thread that initializes shared memory is not always the first.
 */
static unsigned order;
static unsigned launches;

void
emulated_begin_test(unsigned seed)
{
	launches = seed;
}

static void
choose_order(void)
{
	/* two large odd numbers, whose multiples fill the upper half of the words evenly */
	order = (launches * 0x9E3779B1u + blockIdx.x * 0x85EBCA6Bu) >> 16;
}

/* Does a warp come as far as it can before the next one begins?  Else all threads take turns. */
static bool
warps_go_far(void)
{
	return order % 2 == 1;
}

/*
 * The threads that may run, but for the one that does, which enters the next one itself when it has
 * to wait: the one that could last where warps go far, else the one that waits longest.
 */
static uint16_t ready[MOST_THREADS];
static unsigned first_ready;
static unsigned nready;
static unsigned alive;
static unsigned idle;

static void
make_ready(unsigned thread)
{
	ready[(first_ready + nready++) % MOST_THREADS] = (uint16_t) thread;
}

static unsigned
take_ready(void)
{
	nready--;
	if (warps_go_far())
		return ready[(first_ready + nready) % MOST_THREADS];
	return ready[first_ready++ % MOST_THREADS];
}

/* Leave the fiber that runs until somebody enters it. */
static void
yield_fiber(void)
{
	Place	   *place = &fibers[threadIdx.x].place;

	if (alive == 0)
		emulated_switch(place, &scheduler);
	else if (nready == 0)
		fail("some lanes wait for others that never come");
	else
	{
		unsigned	next = take_ready();

		if (next == threadIdx.x)
			return;
		threadIdx.x = next;
		emulated_switch(place, &fibers[next].place);
	}
}

/* Make n threads ready, from "first" on, but for the one that runs, in no helpful order. */
static void
make_all_ready(unsigned first, unsigned n, unsigned turn)
{
	/* 7 and any power of two have no common divisor; else in order */
	unsigned	step = n % 7 == 0 ? 1 : 7;

	for (unsigned i = 0, at = turn % n; i < n; i++, at = (at + step) % n)
	{
		if (first + at != threadIdx.x)
			make_ready(first + at);
	}
}

/*
 * Make all threads of the block ready, but for the one that runs.  Where warps go far, the lanes of
 * each are together, its own are the first, and no other warp begins before they wait for it.
 */
static void
make_block_ready(unsigned turn)
{
	unsigned	n = (whole_block.size + 31) / 32;

	if (!warps_go_far())
	{
		make_all_ready(0, whole_block.size, turn);
		return;
	}
	for (unsigned i = 1; i <= n; i++)
	{
		const Meeting *warp = &warps[(threadIdx.x / 32 + i) % n];

		make_all_ready(warp->first, warp->size, turn);
	}
}

static void
arrive(Meeting *meeting, int operation)
{
	if (meeting->arrived == 0)
		meeting->operation = operation;
	else if (meeting->operation != operation)
		fail("lanes of a warp meet in different operations");
	idle = 0;
	if (++meeting->arrived < meeting->size)
	{
		yield_fiber();
		return;
	}
	meeting->arrived = 0;
	meeting->number++;
	if (meeting == &whole_block)
		make_block_ready((unsigned) meeting->number * 13);
	else
		make_all_ready(meeting->first, meeting->size, (unsigned) meeting->number * 13);
}

/* The warp of the fiber that runs, which comes to its next meeting */
static Meeting *
meet_warp(uint32_t mask)
{
	if (mask != 0xFFFFFFFFu)
		fail("not all lanes are named");
	return &warps[threadIdx.x / 32];
}

/*
 * The values stay until the next meeting but one, to which nobody comes before all have come to the
 * next one, and so have read these.
 */
const uint64_t *
emulated_meet(int operation, uint32_t mask, uint64_t value)
{
	Meeting    *warp = meet_warp(mask);
	uint64_t   *values = warp->value[warp->number % 2];

	values[threadIdx.x % 32] = value;
	arrive(warp, operation);
	return values;
}

uint32_t
emulated_vote(int operation, uint32_t mask, bool vote)
{
	Meeting    *warp = meet_warp(mask);
	uint32_t   *votes = &warp->votes[warp->number % 2];

	if (warp->arrived == 0)
		*votes = 0;
	*votes |= (uint32_t) vote << threadIdx.x % 32;
	arrive(warp, operation);
	return *votes;
}

void
__syncthreads(void)
{
	arrive(&whole_block, 0);
}

/* So many turns of a thread without progress, and there will be none; it may try a word in each. */
#define IDLE_TURNS		10000

/* Who has found a word taken makes no progress: where all do for long, none ever will. */
void
emulated_let_others_run(bool waits)
{
	idle = waits ? idle + 1 : 0;
	if (idle > IDLE_TURNS * alive)
		fail("some lanes wait for others that never come");
	/* behind all others, in the order in which these run */
	if (warps_go_far())
	{
		ready[--first_ready % MOST_THREADS] = (uint16_t) threadIdx.x;
		nready++;
	}
	else
		make_ready(threadIdx.x);
	yield_fiber();
}

/* A fiber never returns: it waits for the next block, since making one takes a stack. */
static void
fiber_main(void)
{
	for (;;)
	{
		running->run();
		alive--;
		idle = 0;
		yield_fiber();
	}
}

static void
start_fiber(Fiber *fiber)
{
	size_t		shift = (fiber - fibers) % STACK_SHIFTS * STACK_SHIFT;

	if (fiber->stack != NULL)
		return;
	fiber->stack = (char *) malloc(STACK_BYTES);
	make_place(&fiber->place, fiber->stack, STACK_BYTES - shift, fiber_main);
}

static void
begin_meetings(Meeting *meeting, unsigned first, unsigned size)
{
	meeting->first = first;
	meeting->size = size;
	meeting->arrived = 0;
}

/* Run the threads of a block: the first one is entered here, the others by each other. */
static void
run_block(unsigned threads)
{
	for (unsigned first = 0; first < threads; first += 32)
		begin_meetings(&warps[first / 32], first, threads - first < 32 ? threads - first : 32);
	begin_meetings(&whole_block, 0, threads);
	for (unsigned t = 0; t < threads; t++)
		start_fiber(&fibers[t]);
	first_ready = nready = idle = 0;
	alive = threads;
	choose_order();
	threadIdx.x = order / 2 % threads;
	make_block_ready(threadIdx.x);
	emulated_switch(&scheduler, &fibers[threadIdx.x].place);
}

void
emulated_grid(unsigned blocks, unsigned threads, EmulatedWork *kernel)
{
	running = kernel;
	launches++;
	gridDim.x = blocks;
	blockDim.x = threads;
	/* the last block first: nothing may depend on the order */
	for (unsigned b = blocks; b-- > 0;)
	{
		blockIdx.x = b;
		run_block(threads);
	}
}

/* ---- failures on demand ---- */

static int	calls_to_failure;
static bool failure_stays;
static bool failed;
static bool lost;
static long live;

void
emulated_fail(int n, bool stays)
{
	calls_to_failure = n;
	failure_stays = stays;
	failed = false;
	lost = false;
}

bool
emulated_has_failed(void)
{
	return failed;
}

long
emulated_live(void)
{
	return live;
}

/* Every call that may tell of an error begins so. */
static cudaError_t
begin_call(bool wants_memory)
{
	if (lost)
		return cudaErrorLaunchFailure;
	if (calls_to_failure == 0 || (!failure_stays && !wants_memory) || --calls_to_failure > 0)
		return cudaSuccess;
	failed = true;
	lost = failure_stays;
	return lost ? cudaErrorLaunchFailure : cudaErrorMemoryAllocation;
}

cudaError_t
emulated_begin_submission(void)
{
	return begin_call(true);
}

#define BEGIN_CALL(wants_memory) \
	do { \
		cudaError_t error_ = begin_call(wants_memory); \
		if (error_ != cudaSuccess) \
			return error_; \
	} while (0)

/* ---- streams ---- */

struct EmulatedStream
{
	std::deque<EmulatedWork *> work;
};

struct EmulatedEvent
{
	EmulatedStream *stream = nullptr;	/* the stream in which it was recorded last */
	uint64_t	recorded = 0;
	uint64_t	reached = 0;
};

void
emulated_submit_work(cudaStream_t stream, EmulatedWork *work)
{
	stream->work.push_back(work);
}

static void
run_next(EmulatedStream *stream)
{
	EmulatedWork *work = stream->work.front();

	stream->work.pop_front();
	work->run();
	delete work;
}

/* Until the event's record of that number, made in that stream, has been reached */
static void
run_until(EmulatedEvent *event, EmulatedStream *stream, uint64_t number)
{
	while (event->reached < number)
		run_next(stream);
}

cudaError_t
cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
	BEGIN_CALL(true);
	*stream = new EmulatedStream;
	live++;
	return cudaSuccess;
}

cudaError_t
cudaStreamSynchronize(cudaStream_t stream)
{
	BEGIN_CALL(false);
	while (!stream->work.empty())
		run_next(stream);
	return cudaSuccess;
}

cudaError_t
cudaStreamDestroy(cudaStream_t stream)
{
	if (lost)
		return cudaErrorLaunchFailure;
	cudaStreamSynchronize(stream);
	delete stream;
	live--;
	return cudaSuccess;
}

cudaError_t
cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
	BEGIN_CALL(true);
	*event = new EmulatedEvent;
	live++;
	return cudaSuccess;
}

cudaError_t
cudaEventDestroy(cudaEvent_t event)
{
	delete event;
	live--;
	return cudaSuccess;
}

cudaError_t
cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	uint64_t	number;

	BEGIN_CALL(true);
	number = ++event->recorded;
	event->stream = stream;
	emulated_submit(stream, [=]() { event->reached = number; });
	return cudaSuccess;
}

cudaError_t
cudaEventSynchronize(cudaEvent_t event)
{
	BEGIN_CALL(false);
	run_until(event, event->stream, event->recorded);
	return cudaSuccess;
}

/* "Not ready" stays as the last error until it is asked for, and CUB takes it for its own. */
static cudaError_t last_error = cudaSuccess;

/* Whoever asks again and again sees an end: each time one piece of work is done. */
cudaError_t
cudaEventQuery(cudaEvent_t event)
{
	BEGIN_CALL(false);
	if (event->reached < event->recorded)
		run_next(event->stream);
	if (event->reached == event->recorded)
		return cudaSuccess;
	last_error = cudaErrorNotReady;
	return cudaErrorNotReady;
}

/* Speed is no aim. */
cudaError_t
cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
	if (begin->reached < begin->recorded || end->reached < end->recorded)
		return cudaErrorNotReady;
	*ms = 1;
	return cudaSuccess;
}

cudaError_t
cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
	uint64_t	number = event->recorded;
	EmulatedStream *recorder = event->stream;

	BEGIN_CALL(true);
	emulated_submit(stream, [=]() { run_until(event, recorder, number); });
	return cudaSuccess;
}

/* ---- memory ---- */

/* Host memory fit for direct transfer: read when the transfer happens */
static std::map<const char *, size_t> pinned;

static bool
is_pinned(const void *data, size_t size)
{
	auto		after = pinned.upper_bound((const char *) data);

	if (after == pinned.begin())
		return false;
	--after;
	return (const char *) data + size <= after->first + after->second;
}

cudaError_t
cudaMalloc(void **data, size_t size)
{
	BEGIN_CALL(true);
	*data = aligned_alloc(256, (size + 255) / 256 * 256);
	if (*data == NULL)
		return cudaErrorMemoryAllocation;
	live++;
	/* enough to be noticed; the rest of a large piece is left to the system */
	memset(*data, 0xA5, size < 65536 ? size : 65536);
	return cudaSuccess;
}

cudaError_t
cudaFree(void *data)
{
	if (lost)
		return cudaErrorLaunchFailure;
	live -= data != NULL;
	free(data);
	return cudaSuccess;
}

cudaError_t
cudaHostAlloc(void **data, size_t size, unsigned)
{
	BEGIN_CALL(true);
	*data = malloc(size);
	if (*data == NULL)
		return cudaErrorMemoryAllocation;
	live++;
	memset(*data, 0xA5, size);
	pinned[(const char *) *data] = size;
	return cudaSuccess;
}

cudaError_t
cudaFreeHost(void *data)
{
	live -= data != NULL;
	pinned.erase((const char *) data);
	free(data);
	return cudaSuccess;
}

cudaError_t
cudaHostRegister(void *base, size_t size, unsigned)
{
	if (is_pinned(base, size))
		return cudaErrorHostMemoryAlreadyRegistered;
	pinned[(const char *) base] = size;
	return cudaSuccess;
}

cudaError_t
cudaHostUnregister(void *base)
{
	pinned.erase((const char *) base);
	return cudaSuccess;
}

/* A copy to pageable memory returns when it is done, as CUDA's does. */
cudaError_t
cudaMemcpyAsync(void *into, const void *from, size_t size, cudaMemcpyKind kind,
				cudaStream_t stream)
{
	BEGIN_CALL(true);
	if (kind == cudaMemcpyHostToDevice && !is_pinned(from, size))
	{
		std::vector<char> kept((const char *) from, (const char *) from + size);

		emulated_submit(stream, [=]() { memcpy(into, kept.data(), size); });
		return cudaSuccess;
	}
	emulated_submit(stream, [=]() { memcpy(into, from, size); });
	if (kind == cudaMemcpyDeviceToHost && !is_pinned(into, size))
		cudaStreamSynchronize(stream);
	return cudaSuccess;
}

cudaError_t
cudaMemsetAsync(void *into, int value, size_t size, cudaStream_t stream)
{
	BEGIN_CALL(true);
	emulated_submit(stream, [=]() { memset(into, value, size); });
	return cudaSuccess;
}

/* ---- the rest ---- */

cudaError_t
cudaSetDevice(int ordinal)
{
	return ordinal == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t
cudaGetDeviceProperties(cudaDeviceProp *properties, int)
{
	memset(properties, 0, sizeof(*properties));
	snprintf(properties->name, sizeof(properties->name), "emulated");
	properties->multiProcessorCount = 2;
	return cudaSuccess;
}

cudaError_t
cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
	*free_bytes = *total = (size_t) 4 << 30;
	return cudaSuccess;
}

cudaError_t
cudaGetLastError(void)
{
	cudaError_t error = last_error;

	last_error = cudaSuccess;
	return error;
}

cudaError_t
cudaPeekAtLastError(void)
{
	return last_error;
}

const char *
cudaGetErrorName(cudaError_t)
{
	return "cudaError";
}

const char *
cudaGetErrorString(cudaError_t error)
{
	return error == cudaErrorMemoryAllocation ? "out of memory" : "emulated error";
}
