// Runs a command, counts the operations by which it changes files below a folder, and kills it before one of them.
//
//   tracer KILL FOLDER REPORT COMMAND...
//
// KILL is the number of the operation, from 1, before which the process gets SIGKILL; "7h" lets the 7th, if it is a
// write, write the first half of its bytes before. 0 kills at none. REPORT gets a line: the operations, the exit code (-1
// where it was killed), and the operation at which it was killed. Of Linux on x86-64: the kernel itself (seccomp) stops
// the process at the system calls below, whichever library makes them.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

// How a call names the file that it changes.
enum { FD, PATH, AT, TWO_PATHS, TWO_AT, OPEN, OPENAT, LINK_AT };

static const struct call {
    int number;
    int kind;
    const char* name;
} CALLS[] = {
    {SYS_open, OPEN, "open"}, {SYS_openat, OPENAT, "openat"}, {SYS_creat, PATH, "creat"},
    {SYS_write, FD, "write"}, {SYS_pwrite64, FD, "pwrite"}, {SYS_writev, FD, "writev"}, {SYS_pwritev, FD, "pwritev"},
    {SYS_copy_file_range, FD, "copy_file_range"}, {SYS_fallocate, FD, "fallocate"},
    {SYS_ftruncate, FD, "ftruncate"}, {SYS_fsync, FD, "fsync"}, {SYS_fdatasync, FD, "fdatasync"},
    {SYS_fchmod, FD, "fchmod"}, {SYS_flock, FD, "flock"},
    {SYS_truncate, PATH, "truncate"}, {SYS_chmod, PATH, "chmod"}, {SYS_fchmodat, AT, "fchmodat"},
    {SYS_mkdir, PATH, "mkdir"}, {SYS_mkdirat, AT, "mkdirat"}, {SYS_rmdir, PATH, "rmdir"},
    {SYS_unlink, PATH, "unlink"}, {SYS_unlinkat, AT, "unlinkat"},
    {SYS_rename, TWO_PATHS, "rename"}, {SYS_renameat, TWO_AT, "renameat"}, {SYS_renameat2, TWO_AT, "renameat2"},
    {SYS_link, TWO_PATHS, "link"}, {SYS_linkat, TWO_AT, "linkat"},
    {SYS_symlink, TWO_PATHS, "symlink"}, {SYS_symlinkat, LINK_AT, "symlinkat"},
};
enum { COUNT = sizeof CALLS / sizeof CALLS[0] };

static void stop_at_calls(void) {
    struct sock_filter filter[COUNT + 3];
    int n = 0;
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < COUNT; i++)
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)CALLS[i].number, (unsigned char)(COUNT - i), 0);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    struct sock_fprog program = {(unsigned short)n, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) _exit(97);
}

static void read_text(pid_t of, unsigned long at, char* text, size_t room) {
    size_t done = 0;
    text[0] = 0;
    while (done + sizeof(long) < room) {
        errno = 0;
        long word = ptrace(PTRACE_PEEKDATA, of, at + done, 0);
        if (errno) break;
        memcpy(text + done, &word, sizeof word);
        if (memchr(&word, 0, sizeof word)) return;
        done += sizeof word;
    }
    text[done] = 0;
}

static void of_fd(pid_t of, long fd, char* text, size_t room) {
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/fd/%ld", of, fd);
    ssize_t length = readlink(link, text, room - 1);
    text[length < 0 ? 0 : length] = 0;
}

// A path, relative ones after the folder that they are relative to.
static void of_path(pid_t of, long folder, unsigned long at, char* text, size_t room) {
    char name[2048];
    read_text(of, at, name, sizeof name);
    if (name[0] == '/') {
        snprintf(text, room, "%s", name);
        return;
    }
    char from[2048];
    if ((int)folder == AT_FDCWD) {
        char link[64];
        snprintf(link, sizeof link, "/proc/%d/cwd", of);
        ssize_t length = readlink(link, from, sizeof from - 1);
        from[length < 0 ? 0 : length] = 0;
    } else {
        of_fd(of, folder, from, sizeof from);
    }
    snprintf(text, room, "%s/%s", from, name);
}

static int below(const char* path, const char* folder) {
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

// Whether a call changes a file below the folder; tells which.
static int changes(pid_t of, const struct call* call, const struct user_regs_struct* regs, const char* folder, char* text, size_t room) {
    long a = (long)regs->rdi, b = (long)regs->rsi, c = (long)regs->rdx, d = (long)regs->r10;
    const int making = O_CREAT | O_TRUNC;
    switch (call->kind) {
        case FD: of_fd(of, a, text, room); break;
        case OPEN:
            if (!(b & making)) return 0;
            of_path(of, AT_FDCWD, (unsigned long)a, text, room);
            break;
        case OPENAT:
            if (!(c & making)) return 0;
            of_path(of, a, (unsigned long)b, text, room);
            break;
        case PATH: of_path(of, AT_FDCWD, (unsigned long)a, text, room); break;
        case AT: of_path(of, a, (unsigned long)b, text, room); break;
        case TWO_PATHS: of_path(of, AT_FDCWD, (unsigned long)b, text, room); break;
        case TWO_AT: of_path(of, c, (unsigned long)d, text, room); break;
        default: of_path(of, b, (unsigned long)c, text, room);
    }
    return below(text, folder);
}

int main(int argc, char** argv) {
    if (argc < 5) return 98;
    char* rest;
    long kill_at = strtol(argv[1], &rest, 10);
    int half = *rest == 'h';
    const char* folder = argv[2];
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        stop_at_calls();
        execv(argv[4], argv + 4);
        _exit(96);
    }
    int status;
    waitpid(child, &status, 0);
    long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL;
    if (!WIFSTOPPED(status) || ptrace(PTRACE_SETOPTIONS, child, 0, options)) return 95;
    ptrace(PTRACE_CONT, child, 0, 0);
    long count = 0;
    int code = -1, killed = 0;
    char at[4096] = "";
    for (;;) {
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0) break;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread == child) {
                code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
                break;
            }
            continue;
        }
        int signal = WSTOPSIG(status), event = status >> 16;
        if (event == PTRACE_EVENT_SECCOMP && !killed) {
            struct user_regs_struct regs;
            ptrace(PTRACE_GETREGS, thread, 0, &regs);
            const struct call* call = CALLS;
            while (call < CALLS + COUNT && call->number != (int)regs.orig_rax) call++;
            char path[4096];
            if (call < CALLS + COUNT && changes(thread, call, &regs, folder, path, sizeof path) && ++count == kill_at) {
                snprintf(at, sizeof at, "%s %.4000s", call->name, path);
                killed = 1;
                if (half && (call->number == SYS_write || call->number == SYS_pwrite64)) {
                    regs.rdx /= 2;
                    ptrace(PTRACE_SETREGS, thread, 0, &regs);
                    // Until the call returns.
                    ptrace(PTRACE_SYSCALL, thread, 0, 0);
                    waitpid(thread, &status, __WALL);
                }
                kill(child, SIGKILL);
                continue;
            }
        }
        // Stops of ptrace's own are no signals of the process.
        int is_own = event != 0 || signal == SIGSTOP || signal == SIGTRAP;
        ptrace(PTRACE_CONT, thread, 0, is_own ? 0 : signal);
    }
    FILE* report = fopen(argv[3], "w");
    if (!report) return 94;
    fprintf(report, "%ld %d %s\n", count, code, at);
    return fclose(report) ? 94 : 0;
}
