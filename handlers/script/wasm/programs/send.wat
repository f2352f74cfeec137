;; send answers with exactly as many bytes as ?size says, A to Z again and again.

(data (i32.const 1040) "QUERY_STRING=")
(data (i32.const 1056) "size=")
(data (i32.const 1064) "Content-type: text/plain\r\nContent-Length: ")
(data (i32.const 1112) "\r\n\r\n")
(data (i32.const 1120) "Status: 400 Bad Request\r\nContent-type: text/plain; charset=utf-8\r\n\r\n400 Bad Request\n")

;; asked is the first size in the query, -1 for one that is no plain number.
(func $asked (result i32) (local $at i32)
  (local.set $at (call $variable (i32.const 1040) (i32.const 13)))
  (block $none
    (br_if $none (i32.eqz (local.get $at)))
    (loop $pair
      (if (call $begins (local.get $at) (i32.const 1056) (i32.const 5))
        (then (return (call $number (i32.add (local.get $at) (i32.const 5))))))
      (loop $letter
        (br_if $none (i32.eqz (i32.load8_u (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br_if $letter (i32.ne (i32.load8_u (i32.sub (local.get $at) (i32.const 1))) (i32.const 38))))
      (br $pair)))
  (return (i32.const 10240)))

(func (export "_start") (local $left i32) (local $i i32)
  (call $load_environment)
  (local.set $left (call $asked))
  (if (i32.gt_u (local.get $left) (i32.const 16777216))
    (then (call $put (i32.const 1120) (i32.const 84)) (return)))
  (call $put (i32.const 1064) (i32.const 42))
  (call $put_number (local.get $left))
  (call $put (i32.const 1112) (i32.const 4))
  (loop $fill ;; 2205 alphabets
    (i32.store8 (i32.add (i32.const 4096) (local.get $i)) (i32.add (i32.const 65) (i32.rem_u (local.get $i) (i32.const 26))))
    (local.set $i (i32.add (local.get $i) (i32.const 1)))
    (br_if $fill (i32.and (i32.lt_u (local.get $i) (i32.const 57330)) (i32.lt_u (local.get $i) (local.get $left)))))
  (loop $more
    (if (i32.gt_u (local.get $left) (i32.const 57330))
      (then
        (call $put (i32.const 4096) (i32.const 57330))
        (local.set $left (i32.sub (local.get $left) (i32.const 57330)))
        (br $more))))
  (call $put (i32.const 4096) (local.get $left)))
