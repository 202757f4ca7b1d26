// The report: one line an event, `TOKEN {"event":{...}}`, on a descriptor that only the lab reads.
//
// The token is random and was scrubbed from the command line, so a line written by code under test does not carry it.
#pragma once

#include <string>

namespace ks_harness __attribute__((visibility("hidden"))) {

// Remembers the descriptor and takes it out of the environment. Must run before any other library's constructor.
void take_report_descriptor(char** environment);

// Whether there is a descriptor to report to; sets the token for all lines.
bool open_report(const std::string& token);

// Writes `{"NAME":BODY}` in one call; ends the process with status 70 where the reader is gone.
void report(const char* name, const std::string& body);

// The line that `report` would write, and where to: for signal handlers.
std::string report_line(const char* name, const std::string& body);
int report_descriptor();

// `text` as a JSON string with its quotes.
std::string quoted(const std::string& text);

// printf into a string.
std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

}  // namespace ks_harness
