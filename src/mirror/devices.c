/*-------------------------------------------------------------------------
 *
 * devices.c
 *	  Which devices the settings name, and how many services the server has.
 *
 * Each device has a service of its own, and shared memory for its requests; both are there from the
 * server's start on.  So what is named then says how many devices there can be, while which ones
 * they are may change on reload: the services open others then, or, if fewer are named, none.
 *
 * gpubtree.cuda_device = 'all' are the GPUs that the operating system shows.  The postmaster must
 * not ask the driver: a process that was forked after that could not use it.  Where it counts too
 * many, a service finds no device, and says so.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/devices.h"

#include <ctype.h>
#include <dirent.h>

#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/varlena.h"

#define GPB_LARGEST_ORDINAL	1023

/* The value of a setting, taken apart */
typedef struct GpbDeviceList
{
	GpbDeviceChoice choice;		/* of gpubtree.device */
	bool		all;			/* of gpubtree.cuda_device */
	int			n;
	int			ordinal[GPB_MAX_DEVICES];
} GpbDeviceList;

int			gpb_devices = 1;

static char *device_setting = NULL;
static char *cuda_device_setting = NULL;

static GpbDeviceList kinds = {.choice = GPB_CHOOSE_AUTO, .n = 1};
static GpbDeviceList cuda_devices = {.n = 1};

/* ---- taking settings apart ---- */

/* Add a device to a list; false, with a detail, if it is there or there are too many. */
static bool
add_device(GpbDeviceList *list, int ordinal)
{
	for (int i = 0; i < list->n; i++)
	{
		if (list->ordinal[i] != ordinal)
			continue;
		GUC_check_errdetail("Device %d is named twice.", ordinal);
		return false;
	}
	if (list->n == GPB_MAX_DEVICES)
	{
		GUC_check_errdetail("More than %d devices are named.", GPB_MAX_DEVICES);
		return false;
	}
	list->ordinal[list->n++] = ordinal;
	return true;
}

/* Is the text a device's number? */
static bool
read_ordinal(const char *text, int *ordinal)
{
	char	   *end;
	long		number;

	if (!isdigit((unsigned char) *text))
		return false;
	errno = 0;
	number = strtol(text, &end, 10);
	*ordinal = (int) number;
	return errno == 0 && *end == '\0' && number <= GPB_LARGEST_ORDINAL;
}

/* Add what a name of gpubtree.device means. */
static bool
add_kind(GpbDeviceList *list, const char *name)
{
	static const char *const names[] = {"auto", "cuda", "host", "off"};
	int			choice = 0;

	while (choice < lengthof(names) && pg_strcasecmp(name, names[choice]) != 0)
		choice++;
	if (choice == lengthof(names) ||
		(list->n > 0 && (choice != GPB_CHOOSE_HOST || list->choice != GPB_CHOOSE_HOST)))
	{
		GUC_check_errdetail("It is \"auto\", \"cuda\", \"off\", or a list of \"host\".");
		return false;
	}
	list->choice = choice;
	return add_device(list, list->n);
}

/* Add what an element of gpubtree.cuda_device means. */
static bool
add_cuda_device(GpbDeviceList *list, const char *name)
{
	int			ordinal;

	if (!read_ordinal(name, &ordinal))
	{
		GUC_check_errdetail("It is \"all\", or numbers of devices from 0 to %d, as in \"0, 2\".",
							GPB_LARGEST_ORDINAL);
		return false;
	}
	return add_device(list, ordinal);
}

/* Take a list apart, of which each element is added by the function. */
static bool
read_list(const char *value, GpbDeviceList *list,
		  bool (*add) (GpbDeviceList *list, const char *name))
{
	char	   *copy = pstrdup(value);
	List	   *names = NIL;
	ListCell   *cell;
	bool		valid = SplitIdentifierString(copy, ',', &names);

	memset(list, 0, sizeof(*list));
	foreach(cell, names)
		valid = valid && add(list, lfirst(cell));
	if (valid && list->n == 0)
		valid = add(list, "");
	list_free(names);
	pfree(copy);
	return valid;
}

static bool
read_cuda_devices(const char *value, GpbDeviceList *list)
{
	if (pg_strcasecmp(value, "all") != 0)
		return read_list(value, list, add_cuda_device);
	memset(list, 0, sizeof(*list));
	list->all = true;
	return true;
}

/* ---- the settings ---- */

static bool
check_device(char **value, void **extra, GucSource source)
{
	GpbDeviceList list;

	return read_list(*value, &list, add_kind);
}

static void
assign_device(const char *value, void *extra)
{
	(void) read_list(value, &kinds, add_kind);
}

static bool
check_cuda_device(char **value, void **extra, GucSource source)
{
	GpbDeviceList list;

	return read_cuda_devices(*value, &list);
}

static void
assign_cuda_device(const char *value, void *extra)
{
	(void) read_cuda_devices(value, &cuda_devices);
}

void
gpb_define_devices(void)
{
	DefineCustomStringVariable("gpubtree.device",
							   "Selects the devices that hold mirrors.",
							   "auto is CUDA devices if there are any, else none; host is a service's own memory.",
							   &device_setting, "auto", PGC_SIGHUP, GUC_LIST_INPUT,
							   check_device, assign_device, NULL);
	DefineCustomStringVariable("gpubtree.cuda_device",
							   "Numbers of the CUDA devices, or \"all\".",
							   "More devices than were named when the server started need a restart.",
							   &cuda_device_setting, "0", PGC_SIGHUP, GUC_LIST_INPUT,
							   check_cuda_device, assign_cuda_device, NULL);
}

/* ---- how many ---- */

/* How many devices CUDA_VISIBLE_DEVICES leaves of n */
static int
count_visible(int n)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	int			named = 1;

	if (visible == NULL)
		return n;
	for (; *visible != '\0'; visible++)
		named += *visible == ',';
	return Min(n, named);
}

/* How many GPUs of NVIDIA the operating system shows: /dev/nvidia0 and so on */
static int
count_gpus(void)
{
	static const char prefix[] = "nvidia";
	DIR		   *dir = opendir("/dev");
	struct dirent *entry;
	int			n = 0;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
	{
		int			ordinal;

		n += strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
			read_ordinal(entry->d_name + strlen(prefix), &ordinal);
	}
	if (dir != NULL)
		closedir(dir);
	return count_visible(n);
}

GpbDeviceChoice
gpb_device_choice(void)
{
	return kinds.choice;
}

int
gpb_devices_named(void)
{
	if (kinds.choice == GPB_CHOOSE_HOST)
		return kinds.n;
	if (kinds.choice == GPB_CHOOSE_OFF)
		return 1;
	return cuda_devices.all ? Min(Max(count_gpus(), 1), GPB_MAX_DEVICES) : cuda_devices.n;
}

GpbDeviceWish
gpb_device_wish(int number)
{
	GpbDeviceWish wish = {GPB_CHOOSE_OFF, -1};

	if (kinds.choice == GPB_CHOOSE_OFF || number >= gpb_devices_named())
		return wish;
	wish.choice = kinds.choice;
	wish.ordinal = kinds.choice == GPB_CHOOSE_HOST || cuda_devices.all ? number :
		cuda_devices.ordinal[number];
	return wish;
}

void
gpb_count_devices(void)
{
	gpb_devices = gpb_devices_named();
}
