/work/wt/page/obj/tests/unit/old_client.o: tests/unit/old_client.c \
 tests/unit/old_client.h
tests/unit/old_client.h:
