#include "watchdog.h"

#include <csignal>
#include <cstring>

#include <sys/time.h>
#include <unistd.h>

#include "report.h"

namespace ks_harness __attribute__((visibility("hidden"))) {
namespace {

// The whole line, made beforehand: a signal handler may not allocate.
char line[256];
size_t length = 0;
int channel = -1;

void out_of_time(int) {
    if (write(channel, line, length) < 0) _exit(70);
    _exit(0);
}

void set_timer(double seconds) {
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(seconds);
    timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - static_cast<double>(timer.it_value.tv_sec)) * 1e6);
    setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

Watchdog::Watchdog(const std::string& which, int shape, double limit_s) {
    const std::string text = report_line("slow", format("{\"which\":\"%s\",\"shape\":%d}", which.c_str(), shape));
    length = text.size() < sizeof line ? text.size() : 0;
    std::memcpy(line, text.data(), length);
    channel = report_descriptor();
    struct sigaction action {};
    action.sa_handler = out_of_time;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGALRM, &action, nullptr);
    set_timer(limit_s);
}

Watchdog::~Watchdog() {
    set_timer(0);
    std::memset(line, 0, sizeof line);  // it holds the token
}

}  // namespace ks_harness
