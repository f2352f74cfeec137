;; echo answers with the CGI variables, which are all there are, one
;; NAME=value a line, sorted; then for a POST a blank line and the body.

(data (i32.const 1040) "Content-type: text/plain\r\n\r\n")
(data (i32.const 1072) "\n")
(data (i32.const 1080) "REQUEST_METHOD=")
(data (i32.const 1096) "POST")
(data (i32.const 1104) "\n[body ends ")
(data (i32.const 1120) " bytes short]\n")

;; before says whether the name of one variable is before that of another; the
;; equals sign counts as less than any character of a name.
(func $before (param $a i32) (param $b i32) (result i32) (local $p i32) (local $q i32)
  (loop $again
    (local.set $p (i32.load8_u (local.get $a)))
    (local.set $q (i32.load8_u (local.get $b)))
    (if (i32.eq (local.get $p) (i32.const 61)) (then (local.set $p (i32.const 0))))
    (if (i32.eq (local.get $q) (i32.const 61)) (then (local.set $q (i32.const 0))))
    (if (i32.or (i32.ne (local.get $p) (local.get $q)) (i32.eqz (local.get $p)))
      (then (return (i32.lt_u (local.get $p) (local.get $q)))))
    (local.set $a (i32.add (local.get $a) (i32.const 1)))
    (local.set $b (i32.add (local.get $b) (i32.const 1)))
    (br $again))
  (unreachable))

;; slot is where the pointer to variable i is.
(func $slot (param $i i32) (result i32)
  (return (i32.add (i32.const 61440) (i32.mul (local.get $i) (i32.const 4)))))

;; sort puts the pointers in order, by insertion: there are some twenty.
(func $sort (local $i i32) (local $j i32) (local $text i32)
  (block $done
    (loop $next
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $done (i32.ge_u (local.get $i) (global.get $variables)))
      (local.set $text (i32.load (call $slot (local.get $i))))
      (local.set $j (local.get $i))
      (block $placed
        (loop $up
          (br_if $placed (i32.eqz (local.get $j)))
          (br_if $placed (i32.eqz (call $before (local.get $text)
            (i32.load (call $slot (i32.sub (local.get $j) (i32.const 1)))))))
          (i32.store (call $slot (local.get $j)) (i32.load (call $slot (i32.sub (local.get $j) (i32.const 1)))))
          (local.set $j (i32.sub (local.get $j) (i32.const 1)))
          (br $up)))
      (i32.store (call $slot (local.get $j)) (local.get $text))
      (br $next))))

(func (export "_start") (local $i i32) (local $text i32) (local $missing i32)
  (call $load_environment)
  (call $put (i32.const 1040) (i32.const 28))
  (call $sort)
  (block $listed
    (loop $next
      (br_if $listed (i32.ge_u (local.get $i) (global.get $variables)))
      (local.set $text (i32.load (call $slot (local.get $i))))
      (call $put (local.get $text) (call $length (local.get $text)))
      (call $put (i32.const 1072) (i32.const 1))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $next)))
  (local.set $text (call $variable (i32.const 1080) (i32.const 15)))
  (if (i32.eqz (local.get $text)) (then (return)))
  (if (i32.or (i32.ne (call $length (local.get $text)) (i32.const 4))
              (i32.eqz (call $begins (local.get $text) (i32.const 1096) (i32.const 4))))
    (then (return)))
  (call $put (i32.const 1072) (i32.const 1))
  (local.set $missing (call $copy_body (call $body_length)))
  (if (local.get $missing)
    (then
      (call $put (i32.const 1104) (i32.const 12))
      (call $put_number (local.get $missing))
      (call $put (i32.const 1120) (i32.const 14)))))
