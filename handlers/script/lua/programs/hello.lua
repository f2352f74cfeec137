-- hello answers with a fixed page of 77 bytes.
response.type = "text/html"
write("<html><head><title>Hi</title></head><body><h1>Hello World</h1></body></html>\n")
