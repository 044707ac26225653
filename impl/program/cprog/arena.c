//go:build linux && (amd64 || arm64)

#define _GNU_SOURCE
#include "host.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(MADV_GUARD_INSTALL)
#define MADV_GUARD_INSTALL 102 // since Linux 6.13
#endif

static struct host_arena *arenas;
static pthread_mutex_t arenas_lock = PTHREAD_MUTEX_INITIALIZER;

static char *reserve_pages(uint64_t size, int access) {
	char *p = mmap(NULL, size, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

int loggp_guards_are_mappings(void) {
	char *p = reserve_pages(guard, PROT_READ | PROT_WRITE);
	int result = !p || madvise(p, guard, MADV_GUARD_INSTALL) < 0;
	if (p) munmap(p, guard);
	return result;
}

// copy_segments copies the template from where it is loaded.
static int copy_segments(struct dl_phdr_info *info, size_t size, void *data) {
	struct host_arena *a = data;
	struct link_map *map;
	if (dlinfo(a->library, RTLD_DI_LINKMAP, &map) < 0 || info->dlpi_addr != map->l_addr) return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_LOAD) continue;
		memcpy(a->image + p->p_vaddr, (char *)info->dlpi_addr + p->p_vaddr, p->p_memsz);
		if (p->p_flags & PF_X) {
			a->code = p->p_vaddr;
			a->code_size = p->p_memsz;
		}
	}
	return 1;
}

// share_text maps what is not written of the template, for ranks to map again. The file is closed, as the names of what the
// loader has loaded are those of files that were open under the same number.
static const char *share_text(struct host_arena *a) {
	int fd = memfd_create("text", MFD_CLOEXEC);
	if (fd < 0) return strerror(errno);
	uint64_t done = 0;
	while (done < a->fixed_size) {
		ssize_t n = write(fd, a->image + done, a->fixed_size - done);
		if (n < 0) break;
		done += n;
	}
	a->text = done < a->fixed_size ? MAP_FAILED : mmap(NULL, a->fixed_size, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	int e = errno;
	close(fd);
	return a->text == MAP_FAILED ? strerror(e) : NULL;
}

// load_template loads a template and keeps what copies are made of. It returns what is wrong, or NULL.
static const char *load_template(struct host_arena *a, const struct loggp_template *p) {
	const char *error = NULL;
	char path[128];
	a->library = loggp_open_copy(&(struct loggp_image){.bytes = p->file, .size = p->file_size}, NULL, path, &error);
	if (!a->library) return error;
	struct link_map *map;
	uintptr_t attach = (uintptr_t)dlsym(a->library, "loggp_attach"), start = (uintptr_t)dlsym(a->library, "loggp_start");
	if (!attach || !start || dlinfo(a->library, RTLD_DI_LINKMAP, &map) < 0) return "it was not compiled by loggp cc";
	uintptr_t base = map->l_addr;
	a->attach = attach - base;
	a->start = start - base;
	a->init = p->init;
	a->constructors = p->constructors;
	a->constructors_size = p->constructors_size;
	a->image = calloc(1, p->image_size);
	a->relocations = malloc(p->relocations_size * sizeof *a->relocations + 1);
	if (!a->image || !a->relocations) return strerror(ENOMEM);
	dl_iterate_phdr(copy_segments, a);
	memcpy(a->image + p->dynamic_at, p->dynamic, p->dynamic_size);
	for (a->filled_size = p->image_size; a->filled_size > 0 && !a->image[a->filled_size - 1];) a->filled_size--;
	for (uint64_t i = 0; i < p->relocations_size; i++) {
		uint64_t at = p->relocations[i] & ~LOGGP_RELATIVE, value;
		memcpy(&value, a->image + at, sizeof value);
		if (!(p->relocations[i] & LOGGP_RELATIVE) && value - base >= p->image_size) continue; // it is of a library
		value -= base;
		memcpy(a->image + at, &value, sizeof value);
		a->relocations[a->relocations_size++] = at;
	}
	return a->shares_text ? share_text(a) : NULL;
}

struct host_arena *loggp_reserve(uint64_t ranks, uint64_t rank_size, uint64_t stack_size, const struct loggp_template *program, int shares_text, int guards_are_mappings, const char **error) {
	struct host_arena *a = calloc(1, sizeof *a);
	if (!a) {
		*error = strerror(ENOMEM);
		return NULL;
	}
	a->text = MAP_FAILED;
	a->shares_text = shares_text;
	a->guards_are_mappings = guards_are_mappings;
	a->stack_size = stack_size + 0xffff & ~(uint64_t)0xffff;
	if (program) {
		a->image_size = program->image_size;
		a->fixed_size = program->fixed_size;
	}
	a->slot_size = guard + a->stack_size + a->image_size;
	a->ranks_size = (ranks * rank_size + 0xffff & ~(uint64_t)0xffff) + 2 * guard;
	*error = NULL;
	int access = a->guards_are_mappings ? PROT_NONE : PROT_READ | PROT_WRITE;
	if (program && !shares_text && access) access |= PROT_EXEC;
	if (__builtin_mul_overflow(a->slot_size, ranks, &a->size) ||
	    !(a->reserved = reserve_pages(a->size + 2 * guard, access)) || // aligned, and with a guard above the last copy
	    !(a->memory = (char *)((uintptr_t)a->reserved + guard - 1 & ~(uintptr_t)(guard - 1))) ||
	    madvise(a->memory, a->size, MADV_NOHUGEPAGE) < 0 && errno != EINVAL ||
	    mprotect(a->memory + a->size, guard, PROT_NONE) < 0 ||
	    !(a->ranks = reserve_pages(a->ranks_size, PROT_NONE)) ||
	    mprotect(a->ranks + guard, a->ranks_size - 2 * guard, PROT_READ | PROT_WRITE) < 0)
		*error = strerror(errno);
	else if (program)
		*error = load_template(a, program);
	if (*error) {
		loggp_unreserve(a);
		return NULL;
	}
	pthread_mutex_lock(&arenas_lock);
	a->next = arenas;
	arenas = a;
	pthread_mutex_unlock(&arenas_lock);
	return a;
}

void loggp_unreserve(struct host_arena *a) {
	pthread_mutex_lock(&arenas_lock);
	for (struct host_arena **p = &arenas; *p; p = &(*p)->next)
		if (*p == a) {
			*p = a->next;
			break;
		}
	pthread_mutex_unlock(&arenas_lock);
	if (a->library) dlclose(a->library);
	if (a->text != MAP_FAILED) munmap(a->text, a->fixed_size);
	if (a->reserved) munmap(a->reserved, a->size + 2 * guard);
	if (a->ranks) munmap(a->ranks, a->ranks_size);
	free(a->image);
	free(a->relocations);
	free(a);
}

int loggp_crosses_guard(uintptr_t at, uint64_t size) {
	int crosses = 0;
	pthread_mutex_lock(&arenas_lock);
	for (struct host_arena *a = arenas; a; a = a->next) {
		uintptr_t from = at - (uintptr_t)a->memory;
		if (from < a->size) crosses |= from % a->slot_size < guard || size > a->slot_size - from % a->slot_size;
	}
	pthread_mutex_unlock(&arenas_lock);
	return crosses;
}

struct host_rank *loggp_place_rank(struct host_arena *a, uint64_t index) {
	char *slot = a->memory + index * a->slot_size;
	int access = PROT_READ | PROT_WRITE | (a->image && !a->shares_text ? PROT_EXEC : 0);
	int failed = a->guards_are_mappings ? mprotect(slot + guard, a->slot_size - guard, access) : madvise(slot, guard, MADV_GUARD_INSTALL);
	if (failed) return NULL;
	struct host_rank *h = (struct host_rank *)(a->ranks + guard) + index;
	memset(h, 0, sizeof *h);
	h->arena = a;
	h->stack = slot;
	h->stack_size = guard + a->stack_size;
	return h;
}

const char *loggp_copy_template(struct host_rank *h) {
	struct host_arena *a = h->arena;
	char *base = h->stack + h->stack_size;
	uint64_t from = 0;
	if (a->shares_text) {
		from = a->fixed_size;
		if (mremap(a->text, 0, from, MREMAP_MAYMOVE | MREMAP_FIXED, base) == MAP_FAILED) return strerror(errno);
	}
	if (a->filled_size > from) memcpy(base + from, a->image + from, a->filled_size - from);
	for (uint64_t i = 0; i < a->relocations_size; i++) {
		uint64_t value;
		memcpy(&value, base + a->relocations[i], sizeof value);
		value += (uintptr_t)base;
		memcpy(base + a->relocations[i], &value, sizeof value);
	}
	if (!a->shares_text) __builtin___clear_cache(base, base + a->fixed_size);
	h->image = (struct host_image){(uintptr_t)base, a->image_size, (uintptr_t)base + a->code, a->code_size};
	h->start = (void (*)(int, char **))(base + a->start);
	if (a->init) ((void (*)(int, char **, char **))(base + a->init))(h->argc, h->argv, environ);
	void (**f)(int, char **, char **) = (void (**)(int, char **, char **))(base + a->constructors);
	for (uint64_t i = 0; i < a->constructors_size; i++) f[i](h->argc, h->argv, environ);
	h->r.is_copy = 1;
	return loggp_attach_rank(h, (int64_t (*)(struct loggp_rank *))(base + a->attach));
}
