// Package postlog is a log of records of one length that many threads of many
// processes append to, in one line of numbers without a gap or a repetition; and
// the few facts that they share beside it.
//
// The log is a file: its first record's place holds the facts, which every
// process maps, and record n lies at n times the length of a record. So the
// number of the next one follows from the length of the file, and there is no
// counter that could disagree with it. Whoever appends holds a mutex against
// its own threads, and a lock of an open file description (F_OFD_SETLKW,
// fcntl(2)) against other processes, on a descriptor that each has opened for
// itself: one that was inherited would share its parent's lock. The kernel frees
// the lock of a process that dies. What it left of a record is cut off by the
// next holder.
package postlog
