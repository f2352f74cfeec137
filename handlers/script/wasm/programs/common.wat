;; What the four programs have in common: output, environment, numbers.
;; Memory: 0 the vectors of calls, 64 numbers as text, 1024 texts of the
;; program, 4096 a buffer of 56 KiB, 61440 the environment and what follows.

(import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ_sizes_get (param i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "environ_get" (func $environ_get (param i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))

(memory (export "memory") 1)
(global $variables (mut i32) (i32.const 0)) ;; how many

;; put writes n bytes at $at to standard output.
(func $put (param $at i32) (param $n i32)
  (block $done
    (loop $again
      (br_if $done (i32.eqz (local.get $n)))
      (i32.store (i32.const 0) (local.get $at))
      (i32.store (i32.const 4) (local.get $n))
      (if (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))
        (then (call $proc_exit (i32.const 1))))
      (local.set $at (i32.add (local.get $at) (i32.load (i32.const 8))))
      (local.set $n (i32.sub (local.get $n) (i32.load (i32.const 8))))
      (br $again))))

;; load_environment has the variables put at 61440: pointers, then texts.
(func $load_environment (local $end i32)
  (drop (call $environ_sizes_get (i32.const 0) (i32.const 4)))
  (global.set $variables (i32.load (i32.const 0)))
  (local.set $end (i32.add (i32.const 61440)
    (i32.add (i32.mul (global.get $variables) (i32.const 4)) (i32.load (i32.const 4)))))
  (if (i32.gt_u (local.get $end) (i32.mul (memory.size) (i32.const 65536)))
    (then (drop (memory.grow (i32.div_u (local.get $end) (i32.const 65536))))))
  (if (call $environ_get (i32.const 61440)
        (i32.add (i32.const 61440) (i32.mul (global.get $variables) (i32.const 4))))
    (then (call $proc_exit (i32.const 1)))))

;; length is that of the text at $at, up to its zero.
(func $length (param $at i32) (result i32) (local $n i32)
  (block $done
    (loop $again
      (br_if $done (i32.eqz (i32.load8_u (i32.add (local.get $at) (local.get $n)))))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br $again)))
  (return (local.get $n)))

;; begins says whether the text at $at begins with the one at $with, of n bytes.
(func $begins (param $at i32) (param $with i32) (param $n i32) (result i32) (local $i i32)
  (block $differs
    (loop $again
      (if (i32.eq (local.get $i) (local.get $n)) (then (return (i32.const 1))))
      (br_if $differs (i32.ne (i32.load8_u (i32.add (local.get $at) (local.get $i)))
                              (i32.load8_u (i32.add (local.get $with) (local.get $i)))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $again)))
  (return (i32.const 0)))

;; variable returns the value of a variable, given as "NAME=" of n bytes, or 0.
(func $variable (param $name i32) (param $n i32) (result i32) (local $i i32) (local $text i32)
  (block $none
    (loop $again
      (br_if $none (i32.ge_u (local.get $i) (global.get $variables)))
      (local.set $text (i32.load (i32.add (i32.const 61440) (i32.mul (local.get $i) (i32.const 4)))))
      (if (call $begins (local.get $text) (local.get $name) (local.get $n))
        (then (return (i32.add (local.get $text) (local.get $n)))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $again)))
  (return (i32.const 0)))

;; number reads decimal digits up to a zero or "&"; -1 for anything else, none,
;; or more than 10^9.
(func $number (param $at i32) (result i32) (local $n i32) (local $c i32) (local $digits i32)
  (block $bad
    (loop $again
      (local.set $c (i32.load8_u (local.get $at)))
      (if (i32.or (i32.eqz (local.get $c)) (i32.eq (local.get $c) (i32.const 38)))
        (then (if (local.get $digits) (then (return (local.get $n)))) (br $bad)))
      (local.set $c (i32.sub (local.get $c) (i32.const 48)))
      (br_if $bad (i32.gt_u (local.get $c) (i32.const 9)))
      (br_if $bad (i32.gt_u (local.get $n) (i32.const 100000000)))
      (local.set $n (i32.add (i32.mul (local.get $n) (i32.const 10)) (local.get $c)))
      (local.set $digits (i32.const 1))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $again)))
  (return (i32.const -1)))

;; put_number writes n in decimal.
(func $put_number (param $n i32) (local $at i32)
  (local.set $at (i32.const 96))
  (loop $again
    (local.set $at (i32.sub (local.get $at) (i32.const 1)))
    (i32.store8 (local.get $at) (i32.add (i32.const 48) (i32.rem_u (local.get $n) (i32.const 10))))
    (local.set $n (i32.div_u (local.get $n) (i32.const 10)))
    (br_if $again (local.get $n)))
  (call $put (local.get $at) (i32.sub (i32.const 96) (local.get $at))))

;; copy_body copies n bytes from standard input; it returns how many were missing.
(func $copy_body (param $n i32) (result i32) (local $got i32)
  (block $done
    (loop $again
      (br_if $done (i32.eqz (local.get $n)))
      (i32.store (i32.const 0) (i32.const 4096))
      (i32.store (i32.const 4)
        (select (local.get $n) (i32.const 57344) (i32.lt_u (local.get $n) (i32.const 57344))))
      (br_if $done (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
      (local.set $got (i32.load (i32.const 8)))
      (br_if $done (i32.eqz (local.get $got)))
      (call $put (i32.const 4096) (local.get $got))
      (local.set $n (i32.sub (local.get $n) (local.get $got)))
      (br $again)))
  (return (local.get $n)))

;; body_length is CONTENT_LENGTH, 0 without one.
(data (i32.const 1024) "CONTENT_LENGTH=")
(func $body_length (result i32) (local $text i32)
  (local.set $text (call $variable (i32.const 1024) (i32.const 15)))
  (if (i32.eqz (local.get $text)) (then (return (i32.const 0))))
  (local.set $text (call $number (local.get $text)))
  (return (select (i32.const 0) (local.get $text) (i32.lt_s (local.get $text) (i32.const 0)))))
