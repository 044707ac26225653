#include <stdlib.h>
int size_in_environment(void) { return atoi(getenv("SIZE")); }
