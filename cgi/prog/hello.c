/* hello answers with a fixed page of 77 bytes. */
#include <stdio.h>

int main(void)
{
	fputs("Content-type: text/html\r\n\r\n"
	      "<html><head><title>Hi</title></head><body><h1>Hello World</h1></body></html>\n", stdout);
	return fflush(stdout) == 0 ? 0 : 1;
}
