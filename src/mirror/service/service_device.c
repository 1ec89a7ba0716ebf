/*-------------------------------------------------------------------------
 *
 * service_device.c
 *	  The service's device: choosing, opening, and what becomes of a lost one.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/service/service_device.h"

#include <dlfcn.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/ipc.h"

#include "mirror/service_state.h"
#include "mirror/settings.h"
#include "mirror/slots.h"

const GpbDeviceApi *gpb_api = NULL;
GpbDevice  *gpb_device = NULL;

/* The settings that the device was opened with */
static GpbDeviceWish opened;
static int	opened_limit;

/*
 * Find the CUDA library: in the folder that this one was loaded from, which need not be the
 * server's (dynamic_library_path), else in the server's.  Returns false if it is in neither.
 */
static bool
find_cuda(char *path, Size size)
{
	Dl_info		own;

	if (dladdr((void *) gpb_open_device, &own) != 0 && own.dli_fname != NULL)
	{
		strlcpy(path, own.dli_fname, size);
		get_parent_directory(path);
		strlcat(path, "/gpubtree_cuda.so", size);
		if (access(path, F_OK) == 0)
			return true;
	}
	snprintf(path, size, "%s/gpubtree_cuda.so", pkglib_path);
	return access(path, F_OK) == 0;
}

/* Load the CUDA library and return its table; or NULL, and *why says why. */
static const GpbDeviceApi *
load_cuda(const char **why)
{
	static char message[MAXPGPATH + 256];
	char		path[MAXPGPATH];
	void	   *library;
	GpbDeviceEntry entry;
	const GpbDeviceApi *api;

	if (!find_cuda(path, sizeof(path)))
	{
		*why = "gpubtree_cuda.so is not installed";
		return NULL;
	}
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
	{
		strlcpy(message, dlerror(), sizeof(message));
		*why = message;
		return NULL;
	}
	entry = (GpbDeviceEntry) dlsym(library, GPB_CUDA_ENTRY);
	api = entry != NULL ? entry() : NULL;
	if (api == NULL || api->abi != GPB_DEVICE_ABI)
	{
		*why = "gpubtree_cuda.so is of another version";
		return NULL;
	}
	return api;
}

void
gpb_device_show(const char *status)
{
	GpbDeviceInfo info;

	if (gpb_device == NULL)
	{
		gpb_publish_device("none", status, NULL);
		return;
	}
	memset(&info, 0, sizeof(info));
	gpb_api->describe(gpb_device, &info);
	gpb_publish_device(gpb_api->name, status, &info);
}

bool
gpb_open_device(int channels)
{
	const char *why = "gpubtree.device is off";
	void	   *region;
	Size		size;

	opened = gpb_device_wish(gpb_service_device);
	opened_limit = gpb_memory_limit;
	gpb_service->ordinal = opened.ordinal;

	if (opened.choice == GPB_CHOOSE_HOST)
		gpb_api = &gpb_host_device;
	else if (opened.choice != GPB_CHOOSE_OFF)
		gpb_api = load_cuda(&why);
	else if (gpb_device_choice() != GPB_CHOOSE_OFF)
		why = "the settings name no device for this service";
	if (gpb_api == NULL ||
		gpb_api->open(opened.ordinal, (uint64) gpb_memory_limit * 1024, channels, &gpb_device,
					  &why) != GPB_DEVICE_OK)
	{
		char		status[sizeof(gpb_service->status)];

		gpb_device = NULL;
		snprintf(status, sizeof(status), "no device: %s", why);
		gpb_device_show(status);
		if (opened.choice != GPB_CHOOSE_OFF)
			ereport(LOG, (gpb_devices == 1 ?
						  errmsg("gpubtree runs without a device: %s", why) :
						  errmsg("gpubtree runs without device %d: %s", opened.ordinal, why)));
		return false;
	}
	gpb_slots_region(gpb_service_device, &region, &size);
	if (gpb_api->register_region(gpb_device, region, size) != GPB_DEVICE_OK)
		ereport(LOG, (errmsg("gpubtree transfers without registered memory: %s",
							 gpb_api->last_error(gpb_device))));
	return true;
}

bool
gpb_device_settings_changed(void)
{
	GpbDeviceWish wish = gpb_device_wish(gpb_service_device);

	return wish.choice != opened.choice || wish.ordinal != opened.ordinal ||
		gpb_memory_limit != opened_limit;
}

void
gpb_devices_warn(void)
{
	static int	warned = 0;
	int			named = gpb_devices_named();

	if (gpb_service_device == 0 && named > gpb_devices && named != warned)
		ereport(LOG, (errmsg("gpubtree uses the first %d of the %d devices that are named",
							 gpb_devices, named),
					  errhint("Restart the server, which has a service for each device that was named when it started.")));
	warned = named;
}

void
gpb_device_check(GpbDeviceStatus status)
{
	if (status != GPB_DEVICE_LOST)
		return;
	ereport(LOG, (gpb_devices == 1 ?
				  errmsg("gpubtree device is lost: %s", gpb_api->last_error(gpb_device)) :
				  errmsg("gpubtree device %d is lost: %s", opened.ordinal,
						 gpb_api->last_error(gpb_device)),
				  errdetail("All its mirrors are given up; the service restarts.")));
	proc_exit(1);
}
