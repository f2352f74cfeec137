/* hello answers with a fixed page of 77 bytes. */
#include "gateway.h"

int answer(void)
{
	return say("Content-type: text/html\r\n\r\n"
	           "<html><head><title>Hi</title></head><body><h1>Hello World</h1></body></html>\n") < 0;
}
