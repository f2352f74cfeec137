package experiment

// Header lines as clients send them, after the Host field. No answer to a
// measured request depends on one of them.

func wrkHead() []byte { return nil }

func curlHead() []byte {
	return []byte("User-Agent: curl/7.88.1\r\nAccept: */*\r\n")
}

func browserHead() []byte {
	return []byte("User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n" +
		"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n" +
		"Accept-Language: en-GB,en;q=0.7,de;q=0.3\r\n" +
		"Accept-Encoding: gzip, deflate, br, zstd\r\n" +
		"DNT: 1\r\n" +
		"Connection: keep-alive\r\n" +
		"Upgrade-Insecure-Requests: 1\r\n" +
		"Sec-Fetch-Dest: document\r\n" +
		"Sec-Fetch-Mode: navigate\r\n" +
		"Sec-Fetch-Site: none\r\n" +
		"Sec-Fetch-User: ?1\r\n" +
		"Priority: u=0, i\r\n")
}

// mixedHeads are the heads of wrk, curl and a browser, in turn.
func mixedHeads() [][]byte { return [][]byte{wrkHead(), curlHead(), browserHead()} }
