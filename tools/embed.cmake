# cmake -DFROM=web -DTO=FILE.c -P embed.cmake: a C file that holds every file below FROM.
#
# The bytes are taken in by the assembler (.incbin), so that the build needs no other tool; beside
# them stand the path and the SHA-256, which is the ETag.
file(GLOB_RECURSE files RELATIVE ${FROM} ${FROM}/*)
list(SORT files)
set(bytes "")
set(rows "")
set(n 0)
foreach(file ${files})
    file(SHA256 ${FROM}/${file} hash)
    string(APPEND bytes
        "__asm__(\".section .rodata\\n\"\n"
        "        \".balign 16\\n\"\n"
        "        \".hidden web_file_${n}\\n\"\n"
        "        \".hidden web_file_${n}_end\\n\"\n"
        "        \".globl web_file_${n}\\n\"\n"
        "        \".globl web_file_${n}_end\\n\"\n"
        "        \"web_file_${n}:\\n\"\n"
        "        \".incbin \\\"${FROM}/${file}\\\"\\n\"\n"
        "        \"web_file_${n}_end:\\n\"\n"
        "        \".byte 0\\n\"\n"
        "        \".previous\\n\");\n"
        "extern const unsigned char web_file_${n}[], web_file_${n}_end[];\n")
    string(APPEND rows "    { \"/${file}\", web_file_${n}, web_file_${n}_end, \"${hash}\" },\n")
    math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${TO}
    "/* Made by tools/embed.cmake from the files of the page. */\n"
    "#include \"front/http/page.h\"\n\n${bytes}\n"
    "const struct web_file web_files[] = {\n${rows}};\n"
    "const size_t web_files_n = ${n};\n")
