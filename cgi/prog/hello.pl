#!/usr/bin/env perl
# hello answers with a fixed page of 77 bytes.
print "Content-type: text/html\r\n\r\n";
print "<html><head><title>Hi</title></head><body><h1>Hello World</h1></body></html>\n";
