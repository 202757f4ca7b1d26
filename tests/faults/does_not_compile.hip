// expect: does not compile: 6:21: error: use of undeclared identifier 'missing'
#include <hip/hip_runtime.h>

int main() {
    int *data = nullptr; int more = 1; (void)more;
    int value = 1 + missing;
    return value + (data != nullptr);
}
