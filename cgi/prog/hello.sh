#!/bin/sh
# hello answers with a fixed page of 77 bytes.
printf 'Content-type: text/html\r\n\r\n'
printf '<html><head><title>Hi</title></head><body><h1>Hello World</h1></body></html>\n'
