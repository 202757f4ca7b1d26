// One program, many deeds: the sandbox's tests run it with the name of what it should try.
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <map>
#include <spawn.h>
#include <string>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern char **environ;

// Keeps the optimiser from removing what is only done for its effect.
static volatile char *volatile sink;

static int report(const char *what, long result) {
    printf("%s: %ld %s\n", what, result, result < 0 ? strerror(errno) : "");
    return 0;
}

static int write_to(const std::string &path) {
    FILE *file = fopen(path.c_str(), "w");
    report("fopen", file ? 0 : -1);
    if (file) fputs("x", file), fclose(file);
    return file ? 0 : 1;
}

static void recurse(int depth) {
    volatile char room[4096];
    room[0] = static_cast<char>(depth);
    sink = room;
    recurse(depth + 1);
    room[1] = room[0];
}

int main(int argc, char **argv) {
    const std::string deed = argc > 1 ? argv[1] : "";
    const std::string where = argc > 2 ? argv[2] : "";
    std::map<std::string, std::function<int()>> deeds = {
        {"nothing", [] { return 0; }},
        {"fail", [] { fputs("element 3: got 1, expected 2\n", stderr); return 3; }},
        {"hang", [] { for (;;) pause(); return 0; }},
        {"spin", [] { for (volatile int i = 0;; i = i + 1) {} return 0; }},
        {"ignore-sigterm", [] { signal(SIGTERM, SIG_IGN); signal(SIGINT, SIG_IGN); for (;;) pause(); return 0; }},
        {"null", [] { *static_cast<volatile int *>(nullptr) = 1; return 0; }},
        {"abort", [] { abort(); return 0; }},
        {"overflow", [] { recurse(0); return 0; }},
        {"malloc-touched", [] {
            for (;;) {
                char *block = static_cast<char *>(malloc(16 << 20));
                if (!block) abort();
                memset(block, 1, 16 << 20);
                sink = block;
            }
            return 0;
        }},
        {"malloc-untouched", [] { for (;;) { char *block = new char[256 << 20]; sink = block; } return 0; }},
        {"fork", [] { for (;;) fork(); return 0; }},
        {"vfork", [] { if (vfork() == 0) _exit(0); return 0; }},
        {"clone3", [] { return report("clone3", syscall(SYS_clone3, nullptr, 0)); }},
        {"system", [] { return report("system", system("true")); }},
        {"spawn", [] {
            pid_t pid;
            char name[] = "true";
            char *arguments[] = {name, nullptr};
            return report("posix_spawn", posix_spawn(&pid, "/bin/true", nullptr, nullptr, arguments, environ));
        }},
        {"exec", [] { return report("execl", execl("/bin/sh", "sh", "-c", "true", nullptr)); }},
        {"threads", [] {
            for (;;) std::thread([] { for (;;) pause(); }).detach();
            return 0;
        }},
        {"some-threads", [] {
            std::vector<std::thread> threads;
            for (int i = 0; i < 16; i++) threads.emplace_back([] { sink = static_cast<char *>(malloc(1)); });
            for (auto &thread : threads) thread.join();
            return 0;
        }},
        {"print", [] { for (;;) puts("again and again and again"); return 0; }},
        {"print-stderr", [] { for (;;) fputs("again and again and again\n", stderr); return 0; }},
        {"write", [&] { return write_to(where); }},
        {"write-shm", [] { return report("shm_open", shm_open("/kernel-scientist-test", O_CREAT | O_RDWR, 0600)); }},
        {"write-home", [] { return write_to(std::string(getenv("HOME") ? getenv("HOME") : "/root") + "/kernel-scientist-test"); }},
        {"append", [&] { return report("open", open(where.c_str(), O_WRONLY | O_APPEND)); }},
        {"symlink", [&] { report("symlink", symlink(where.c_str(), "link")); return write_to("link/written"); }},
        {"dangling", [&] { report("symlink", symlink(where.c_str(), "link")); return write_to("link"); }},
        {"rename", [&] { write_to("own"); return report("rename", rename("own", where.c_str())); }},
        {"link", [&] { write_to("own"); return report("link", link("own", where.c_str())); }},
        {"unlink", [&] { return report("unlink", unlink(where.c_str())); }},
        {"mkdir", [&] { return report("mkdir", mkdir(where.c_str(), 0700)); }},
        {"truncate", [&] { return report("truncate", truncate(where.c_str(), 0)); }},
        {"chmod", [&] { return report("chmod", chmod(where.c_str(), 0777)); }},
        {"fchmod", [&] { return report("fchmod", fchmod(open(where.c_str(), O_RDONLY), 0777)); }},
        {"attach-shared-memory", [] { return report("shmat", shmat(0, nullptr, 0) == reinterpret_cast<void *>(-1) ? -1 : 0); }},
        {"control-semaphores", [] { return report("semctl", semctl(0, 0, IPC_RMID)); }},
        {"receive-message", [] { return report("msgrcv", msgrcv(0, nullptr, 0, 0, IPC_NOWAIT)); }},
        // setxattrat, which is newer than the C library.
        {"call-of-tomorrow", [] { return syscall(463, -100, ".", 0, "user.x", nullptr, 0) == -1 && errno == ENOSYS ? 0 : 1; }},
        {"read", [&] { return open(where.c_str(), O_RDONLY) < 0 ? 7 : 0; }},
        {"parent-environment", [] {
            return open(("/proc/" + std::to_string(getppid()) + "/environ").c_str(), O_RDONLY) < 0 ? 7 : 0;
        }},
        {"own-files", [] {
            mkdir("sub", 0700);
            write_to("sub/a");
            rename("sub/a", "b");
            chmod("b", 0600);
            symlink("b", "c");
            write_to("c");
            unlink("c");
            FILE *nothing = fopen("/dev/null", "w");
            FILE *error = fopen("/dev/stderr", "w");
            if (!nothing || !error) return 1;
            fputs("to /dev/stderr\n", error), fclose(error);
            std::ifstream written("b");
            std::string text;
            written >> text;
            return text == "x" && unlink("b") == 0 && rmdir("sub") == 0 ? 0 : 1;
        }},
        {"socket", [] { return report("socket", socket(AF_INET, SOCK_STREAM, 0)); }},
        {"unix-socket", [] { return report("socket", socket(AF_UNIX, SOCK_DGRAM, 0)); }},
        {"kill-parent", [] { return report("kill", kill(getppid(), SIGKILL)); }},
        {"kill-all", [] { return report("kill", kill(-1, SIGKILL)); }},
        {"raise", [] { signal(SIGUSR1, [](int) { _exit(5); }); raise(SIGUSR1); return 0; }},
        {"ptrace-parent", [] {
            return report("process_vm_readv", syscall(SYS_process_vm_readv, getppid(), nullptr, 0, nullptr, 0, 0));
        }},
        {"outlive", [] { return report("prctl", prctl(PR_SET_PDEATHSIG, 0)); }},
        {"leave-group", [] { return report("setsid", setsid()); }},
        {"limit-parent", [] {
            rlimit limit = {1, 1};
            return report("prlimit", prlimit(getppid(), RLIMIT_NOFILE, &limit, nullptr));
        }},
        {"huge-file", [] {
            std::ofstream file("huge");
            std::vector<char> block(1 << 20, 'x');
            for (;;) if (!file.write(block.data(), block.size()).flush()) return 9;
            return 0;
        }},
        {"many-files", [] {
            std::string block(1 << 20, 'x');
            for (long i = 0;; i++) std::ofstream(std::to_string(i)) << block;
            return 0;
        }},
        {"environment", [] {
            for (char **variable = environ; *variable; variable++) puts(*variable);
            return 0;
        }},
        {"descriptors", [] {
            // A report descriptor may be there; nothing else above the standard three.
            int open_ones = 0;
            for (int i = 3; i < 1024; i++) open_ones += fcntl(i, F_GETFD) >= 0;
            printf("%d\n", open_ones);
            return 0;
        }},
        {"capabilities", [] {
            std::ifstream status("/proc/self/status");
            for (std::string line; std::getline(status, line);)
                if (line.rfind("CapEff", 0) == 0 || line.rfind("CapPrm", 0) == 0) puts(line.c_str());
            return 0;
        }},
        {"report", [] {
            const char *number = getenv("KS_REPORT_FD");
            return number && write(atoi(number), "hello\n", 6) == 6 ? 0 : 1;
        }},
    };
    auto found = deeds.find(deed);
    return found == deeds.end() ? 99 : found->second();
}
