;; hello answers with a fixed page of 77 bytes.

(data (i32.const 1040) "Content-type: text/html\r\n\r\n"
  "<html><head><title>Hi</title></head><body><h1>Hello World</h1></body></html>\n")

(func (export "_start")
  (call $put (i32.const 1040) (i32.const 104)))
