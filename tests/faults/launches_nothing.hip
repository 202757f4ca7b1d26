// expect: launches nothing
#include <hip/hip_runtime.h>

int main() { return 0; }
