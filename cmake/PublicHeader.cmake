# cmake -D FROM=FILE -D TO=FILE -P PublicHeader.cmake: copies a header or a
# TableGen file, which then includes others of attn by their public names.

file(READ ${FROM} text)
string(REGEX REPLACE "(include \")((dialect|passes|runtime)/)" "\\1attn/\\2"
  text "${text}")
file(WRITE ${TO} "${text}")
