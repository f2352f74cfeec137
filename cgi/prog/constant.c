/* constant answers with the same 162 bytes every time, as the C++ program did
 * that LiteSpeed's comparison of 2005 changed to do so. Its text is our own. */
#include "gateway.h"

int answer(void)
{
	return say("Content-type: text/html\r\nContent-Length: 162\r\n\r\n"
	           "<html><head><title>Constant</title></head><body><p>"
	           "These are the same 162 bytes every time: they tell no process, count, date, path or address."
	           "</p></body></html>\n") < 0;
}
