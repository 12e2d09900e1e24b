/* SPDX-License-Identifier: MIT
 * Checks a plugin's file through the descriptor that is loaded afterwards. */
#include "plugin/abi/loader_file.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys/file_trust.h"

#define SEGMENTS_MAX 64
/* Limit of a module in memory, including its zeroed part. */
#define MEMORY_MAX ((uint64_t)1 << 30)
#define OWN_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
#define OWN_ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

/* The ELF header of the running host, which shows the required machine. */
extern const ElfW(Ehdr) own_header __asm__("__ehdr_start")
    __attribute__((__visibility__("hidden")));

static const char *machine_name(unsigned machine)
{
    static const struct {
        unsigned machine;
        const char *name;
    } names[] = {
        {EM_386, "i386"},    {EM_X86_64, "x86-64"}, {EM_ARM, "arm"},   {EM_AARCH64, "arm64"},
        {EM_RISCV, "riscv"}, {EM_PPC64, "ppc64"},   {EM_S390, "s390"}, {EM_MIPS, "mips"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].machine == machine)
            return names[i].name;
    return "an unknown one";
}

static int check_ident(const char *path, const unsigned char *ident, struct tc_err *err)
{
    if (memcmp(ident, ELFMAG, SELFMAG) != 0)
        return err_set(err, path, "is not an ELF module (no \\177ELF at its beginning)");
    if (ident[EI_CLASS] != OWN_CLASS)
        return err_set(err, path, "is a %d-bit module, but turncast is %d-bit",
                       ident[EI_CLASS] == ELFCLASS64 ? 64 : 32, OWN_CLASS == ELFCLASS64 ? 64 : 32);
    if (ident[EI_DATA] != OWN_ORDER)
        return err_set(err, path, "has the wrong byte order for this machine");
    return 0;
}

static int check_header(const char *path, const ElfW(Ehdr) * h, struct tc_err *err)
{
    if (check_ident(path, h->e_ident, err) < 0)
        return -1;
    if (h->e_machine != own_header.e_machine)
        return err_set(err, path, "is for machine %s (%u), but turncast is for %s (%u)",
                       machine_name(h->e_machine), (unsigned)h->e_machine,
                       machine_name(own_header.e_machine), (unsigned)own_header.e_machine);
    if (h->e_type != ET_DYN)
        return err_set(err, path,
                       "has ELF type %u; expected a shared object (%u), made with cc -shared",
                       (unsigned)h->e_type, (unsigned)ET_DYN);
    if (h->e_phentsize != sizeof(ElfW(Phdr)) || h->e_phnum == 0 || h->e_phnum > SEGMENTS_MAX)
        return err_set(err, path, "has a damaged ELF header (%u segments of %u bytes)",
                       (unsigned)h->e_phnum, (unsigned)h->e_phentsize);
    return 0;
}

static bool loader_file_is_range_inside(uint64_t offset, uint64_t n, uint64_t size)
{
    return offset <= size && n <= size - offset;
}

static int check_segments(const char *path, const ElfW(Phdr) * segments, size_t n, uint64_t size,
                          struct tc_err *err)
{
    bool loads = false;
    for (size_t i = 0; i < n; i++) {
        const ElfW(Phdr) *const s = &segments[i];
        if (s->p_type != PT_LOAD && s->p_type != PT_DYNAMIC)
            continue;
        loads = loads || s->p_type == PT_LOAD;
        if (!loader_file_is_range_inside(s->p_vaddr, s->p_memsz, MEMORY_MAX))
            return err_set(err, path, "is damaged: a segment needs %llu bytes of memory at %#llx",
                           (unsigned long long)s->p_memsz, (unsigned long long)s->p_vaddr);
        if (!loader_file_is_range_inside(s->p_offset, s->p_filesz, size) ||
            s->p_filesz > s->p_memsz)
            return err_set(err, path, "file is truncated: %llu of %llu bytes",
                           (unsigned long long)size,
                           (unsigned long long)(s->p_offset + s->p_filesz));
    }
    return loads ? 0 : err_set(err, path, "has no loadable segment");
}

static int check_elf(int fd, const char *path, struct tc_err *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_set_errno(err, errno, path, "cannot read the file status");
    const uint64_t size = (uint64_t)st.st_size;
    ElfW(Ehdr) header;
    if (size < sizeof header || pread(fd, &header, sizeof header, 0) != sizeof header)
        return err_set(err, path, "is not an ELF module: only %llu bytes long",
                       (unsigned long long)size);
    if (check_header(path, &header, err) < 0)
        return -1;
    ElfW(Phdr) segments[SEGMENTS_MAX];
    const size_t bytes = header.e_phnum * sizeof *segments;
    if (!loader_file_is_range_inside(header.e_phoff, bytes, size) ||
        pread(fd, segments, bytes, (off_t)header.e_phoff) != (ssize_t)bytes)
        return err_set(err, path, "file is truncated: the segment table is missing");
    return check_segments(path, segments, header.e_phnum, size, err);
}

int loader_file_open(const char *path, struct tc_err *err)
{
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        return err_set(err, path, "is a symbolic link; use the path of the target file");
    const int fd = file_trust_open(path, err);
    if (fd >= 0 && check_elf(fd, path, err) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}
