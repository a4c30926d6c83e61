// spaces NAME: namespaces, mounts, users and capabilities.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int got(long result) {
    if (result < 0) return perror("no"), 1;
    puts("GOT");
    return 0;
}

static int new_user(void) { return got(unshare(CLONE_NEWUSER)); }
static int new_user_mounts(void) { return got(unshare(CLONE_NEWUSER | CLONE_NEWNS)); }
static int new_user_network(void) { return got(unshare(CLONE_NEWUSER | CLONE_NEWNET)); }
static int new_mounts(void) { return got(unshare(CLONE_NEWNS)); }
static int new_processes(void) { return got(unshare(CLONE_NEWPID)); }
static int new_groups(void) { return got(unshare(CLONE_NEWCGROUP)); }
static int new_time(void) { return got(unshare(0x80 | CLONE_NEWUSER)); }
static int clone_user(void) {
    long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (!child) _exit(0);
    return got(child);
}
static int clone_user_three(void) {
    struct clone_args arguments = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
    long child = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (!child) _exit(0);
    return got(child);
}
// With a user namespace of one's own, one is root there, and may mount.
static int mount_in_own(void) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS)) return got(-1);
    return got(mount("tmpfs", "sub", "tmpfs", 0, ""));
}
static int become_root(void) {
    int user = getuid();
    if (unshare(CLONE_NEWUSER)) return got(-1);
    int map = open("/proc/self/uid_map", O_WRONLY);
    char text[32];
    snprintf(text, sizeof text, "0 %d 1", user);
    return got(map < 0 ? -1 : write(map, text, strlen(text)));
}
static int mount_memory(void) { return got(mount("tmpfs", "sub", "tmpfs", 0, "")); }
static int mount_processes(void) { return got(mount("proc", "sub", "proc", 0, "")); }
static int mount_again(void) { return got(mount("/usr", "sub", "", MS_BIND | MS_REC, "")); }
static int mount_writable(void) { return got(mount("", "/proc", "", MS_REMOUNT | MS_BIND, "")); }
static int unmount_state(void) {
    // What covers the state of exacta, if something does.
    if (umount2(".clada", MNT_DETACH)) umount2("/proc/sys", MNT_DETACH);
    return got(mount("", "/", "", MS_REC | MS_PRIVATE, ""));
}
static int open_filesystem(void) { return got(syscall(SYS_fsopen, "tmpfs", 0)); }
static int clone_tree(void) { return got(syscall(SYS_open_tree, AT_FDCWD, "/usr", OPEN_TREE_CLONE | AT_RECURSIVE)); }
static int set_attributes(void) {
    struct mount_attr attribute = {.attr_set = MOUNT_ATTR_NODEV};
    return got(syscall(SYS_mount_setattr, AT_FDCWD, "/proc", 0, &attribute, sizeof attribute));
}
static int list_mounts(void) {
    struct { unsigned size, spare; unsigned long mount, parameter, ns; } request = {24, 0, -1UL, 0, 0};
    unsigned long found[64];
    return got(syscall(458, &request, found, 64, 0));
}
static int change_root(void) { return got(chroot("sub")); }
static int escape_root(void) {
    // The old trick: a directory that is held while the root is changed.
    int above = open("/", O_RDONLY);
    if (chroot("sub") || fchdir(above)) return got(-1);
    for (int i = 0; i < 64; i++)
        if (chdir("..")) break;
    if (chroot(".")) return got(-1);
    return got(open("srv/exacta-secret", O_RDONLY));
}
static int pivot(void) {
    if (unshare(CLONE_NEWNS) || mount("", "/", "", MS_REC | MS_PRIVATE, "")) return got(-1);
    if (mount("tmpfs", "sub", "tmpfs", 0, "") || chdir("sub")) return got(-1);
    mkdir("old", 0755);
    return got(syscall(SYS_pivot_root, ".", "old"));
}
static int enter_held(void) { return got(setns(47, 0)); }
static int enter_parent(void) { return got(setns(48, CLONE_NEWNS | CLONE_NEWNET)); }
static int enter_first(void) {
    int space = open("/proc/1/ns/mnt", O_RDONLY);
    return got(space < 0 ? -1 : setns(space, CLONE_NEWNS));
}
static int be_user(void) { return got(setresuid(4321, 4321, 4321)); }
static int be_group(void) { return got(setresgid(4321, 4321, 4321)); }
static int join_groups(void) { return got(setgroups(1, (gid_t[]){4321})); }
static int be_root(void) { return got(setuid(0)); }
static int keep_powers(void) {
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[2] = {{0}};
    if (syscall(SYS_capget, &head, sets)) return got(-1);
    return got(sets[0].permitted || sets[1].permitted ? 0 : -1);
}
static int raise_powers(void) {
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[2] = {{-1U, -1U, -1U}, {0x1ff, 0x1ff, 0x1ff}};
    return got(syscall(SYS_capset, &head, sets));
}
static int bounding_power(void) {
    for (int i = 0; i <= 40; i++)
        if (prctl(PR_CAPBSET_READ, i, 0, 0, 0) > 0) return got(0);
    return got(-1);
}
static int secure_bits(void) { return got(prctl(PR_SET_SECUREBITS, 0x2f, 0, 0, 0)); }
static int new_privileges(void) { return got(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) ? -1 : 0); }
static int no_filter(void) { return got(prctl(PR_GET_SECCOMP, 0, 0, 0, 0) ? -1 : 0); }

static const struct { const char *name; int (*does)(void); } ALL[] = {
    {"new-user", new_user}, {"new-user-mounts", new_user_mounts}, {"new-user-network", new_user_network},
    {"new-mounts", new_mounts}, {"new-processes", new_processes}, {"new-groups", new_groups}, {"new-time", new_time},
    {"clone-user", clone_user}, {"clone3-user", clone_user_three}, {"mount-in-own", mount_in_own},
    {"become-root", become_root}, {"mount-memory", mount_memory}, {"mount-processes", mount_processes},
    {"mount-again", mount_again}, {"mount-writable", mount_writable}, {"unmount", unmount_state},
    {"open-filesystem", open_filesystem}, {"clone-tree", clone_tree}, {"set-attributes", set_attributes},
    {"list-mounts", list_mounts}, {"change-root", change_root}, {"escape-root", escape_root}, {"pivot", pivot},
    {"enter-held", enter_held}, {"enter-parent", enter_parent}, {"enter-first", enter_first}, {"be-user", be_user},
    {"be-group", be_group}, {"join-groups", join_groups}, {"be-root", be_root}, {"keep-powers", keep_powers},
    {"raise-powers", raise_powers}, {"bounding-power", bounding_power},
    {"secure-bits", secure_bits}, {"new-privileges", new_privileges}, {"no-filter", no_filter},
};

int main(int count, char **words) {
    for (size_t i = 0; count > 1 && i < sizeof ALL / sizeof *ALL; i++)
        if (!strcmp(ALL[i].name, words[1])) return ALL[i].does();
    fprintf(stderr, "no such attack\n");
    return 2;
}
