// SPDX-License-Identifier: GPL-2.0
/* Paths of control groups as Kubernetes, container engines and SLURM make them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cgroup.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
	const char *path, *pod, *container, *slurm;
} rows[] = {
	{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod8f1c2d3e_4a5b_6c7d_8e9f_0a1b2c3d4e5f.slice/cri-containerd-" ID
	 ".scope",
	 "8f1c2d3e-4a5b-6c7d-8e9f-0a1b2c3d4e5f", ID, ""},
	{"/kubepods/besteffort/pod8f1c2d3e-4a5b-6c7d-8e9f-0a1b2c3d4e5f/" ID,
	 "8f1c2d3e-4a5b-6c7d-8e9f-0a1b2c3d4e5f", ID, ""},
	{"/kubepods.slice/kubepods-pod8f1c2d3e_4a5b_6c7d_8e9f_0a1b2c3d4e5f.slice/crio-" ID ".scope/container",
	 "8f1c2d3e-4a5b-6c7d-8e9f-0a1b2c3d4e5f", ID, ""},
	{"/system.slice/docker-" ID ".scope", "", ID, ""},
	{"/docker/" ID, "", ID, ""},
	{"/machine.slice/libpod-" ID ".scope/container", "", ID, ""},
	{"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope", "", ID, ""},
	{"/machine.slice/libpod-conmon-" ID ".scope", "", "", ""},
	{"/lxc.payload.web-1/init.scope", "", "web-1", ""},
	{"/machine.slice/machine-guest.scope/payload", "", "guest", ""},
	{"/system.slice/slurmstepd.scope/job_4711/step_0/user/task_3", "", "", "4711"},
	{"/slurm/uid_1000/job_12/step_batch", "", "", "12"},
	{"/system.slice/job_.service", "", "", ""},
	{"/system.slice/my-podman.service", "", "", ""},
	{"/user.slice/0123456789abcdef", "", "", ""},
	{"/", "", "", ""},
	{"", "", "", ""},
};

static void parts(void **state)
{
	char text[GRT_CGROUP_PART];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(grt_cgroup_part(rows[i].path, GRT_CGROUP_POD, text), rows[i].pod[0] != '\0');
		assert_string_equal(text, rows[i].pod);
		assert_int_equal(grt_cgroup_part(rows[i].path, GRT_CGROUP_CONTAINER, text),
				 rows[i].container[0] != '\0');
		assert_string_equal(text, rows[i].container);
		assert_int_equal(grt_cgroup_part(rows[i].path, GRT_CGROUP_SLURM, text),
				 rows[i].slurm[0] != '\0');
		assert_string_equal(text, rows[i].slurm);
	}
}

static void too_long(void **state)
{
	char path[400] = "/lxc.payload.", text[GRT_CGROUP_PART];

	memset(path + strlen(path), 'x', 300);
	assert_false(grt_cgroup_part(path, GRT_CGROUP_CONTAINER, text));
	assert_string_equal(text, "");
}

static void expect_path(const char *text, const char *path)
{
	char copy[256];
	const char *found = grt_cgroup_path(strcpy(copy, text));

	assert_string_equal(found ? found : "none", path);
}

static void paths(void **state)
{
	expect_path("0::/a/b\n", "/a/b");
	expect_path("12:memory:/c\n1:name=systemd:/d\n0::/a\n", "/a");
	expect_path("12:memory:/\n11:cpu:/docker/x\n1:name=systemd:/d\n0::/\n", "/docker/x");
	expect_path("12:memory:/c\n1:name=systemd:/d\n", "/c");
	expect_path("0::/\n", "/");
	expect_path("2:cpu,cpuacct:/\n0::/", "/");
	expect_path("", "none");
	expect_path("0::\nx\n", "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts),
		cmocka_unit_test(too_long),
		cmocka_unit_test(paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
