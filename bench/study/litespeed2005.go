package study

import (
	"strings"
	"time"
)

// The servers of the study, and what is set beside them.
const (
	litespeed = "litespeed-2.0"
	apache13  = "apache-1.3.33"
	apache20  = "apache-2.0.52 prefork"
	naive     = "epoll dispatcher"
	changes   = "epoll dispatcher, changes"
	tux       = "tux-3.2"
	thttpd    = "thttpd"
	boa       = "boa"
	mathopd   = "mathopd"
	lighttpd5 = "lighttpd-1.3.12"
	overrides = "apache with per-directory override files"
	lsOver    = "litespeed with per-directory override files"
	iis6      = "iis-6.0"
	modules   = "apache with mod_php and mod_perl"
	behind    = "apache with php-cgi and perl"
)

// clients2005 is where most conclusions are judged, and programs2005 where
// those about programs are.
const (
	clients2005  = 30
	programs2005 = 10
)

// litespeed2005 is the study in which the makers of LiteSpeed set it against
// ten other servers: a small file, and programs by all ways that they had.
func litespeed2005() Study {
	s := Study{
		Name:     "litespeed-2005",
		Title:    "ApacheBench, 2005: LiteSpeed and ten other servers, a small file and programs",
		Cite:     "LiteSpeed Technologies, 2005",
		Question: "By how much are event loops, one in the kernel among them, ahead of pools of processes with a file of 100 bytes and with programs?",
		Claimed: "an event loop answers with small files 3 to 7 times as fast as Apache's pool of processes and with programs 1.5 to 2 times as fast, " +
			"poll is ahead of epoll, and a server in the kernel is ahead only with one connection a request",
		Held: "The 100-byte file with and without keep-alive, by 1 to 2,000 clients; programs with a connection for each request, by 10. HTTP/1.0, no think time, " +
			"closed loop, no access log. One server program answers for all, only architecture and flags differ; 32 processes in Apache's place. " +
			"PHP and Perl are kept running behind FastCGI, and their processes' CPU counts as the server's.",
		NotRepeated: "The study's network between two machines, Linux 2.6.10, and its fixed numbers of requests (they are in the notes): here each load has a time. " +
			"Its charts are lost: only the ratios of its text are published beside. None of our servers has PHP or Perl in its own process, as that Apache " +
			"had: ours ask them by FastCGI on both sides, and today's Apache runs beside, with mod_php and mod_perl and by FastCGI. TUX and http.sys were in the kernel: accel is not, but has what they had, " +
			"a cache of complete replies before anything else. The two Apaches are one architecture and one program here, and so can't but be equal. " +
			"By 32 processes no more kept connections are served at a time, so that Apache's place is asked by at most 30 clients that keep theirs. " +
			"What a server can do is judged by replies a second of its processor, which loopback and the client do not touch.",
		Duration: 2 * time.Second, QuickDuration: 500 * time.Millisecond,
		Servers: servers2005(),
		Loads:   loads2005(),
		Claims:  claims2005(),
		Charts: []Chart{
			{Title: "A connection for each request", Metric: Requests, Series: series2005("static-close")},
			{Title: "Kept connections", Metric: Requests, Series: series2005("static-keepalive")},
		},
	}
	s.Full, s.Quick = units2005()
	s.Tables = tables2005()
	s.Notes = []string{
		"The study ran every test three times and published the best. The tables have the best of our first three runs beside the median of all with its interval, " +
			"and two conclusions say by how much the best of three flatters: a maximum of three is above the median in seven of eight cases by chance alone, " +
			"and the more so the noisier a server is.",
		"poll ahead of epoll: with all connections active poll's scan finds an event at nearly every descriptor, so that nothing of it is wasted, and the servers of 2005 " +
			"told epoll of every change of a connection's state, one system call each (--epoll-ctl naive). Beside it runs today's way, one call a connection. " +
			"What idle connections change, epoll-vs-poll shows.",
		"A bound of ten connections an address, as that IIS had on a workstation's Windows: what is above is closed at accept. " +
			"All clients of a load generator have one address.",
		"Its tests: " + facts2005("litespeed-2005-tests") + ".",
		"Its claims, as published: " + facts2005("litespeed-2005") + ".",
	}
	return s
}

// pool2005 are the flags of Apache's place: as many processes from the start
// as it ever has.
func pool2005(more ...string) []string {
	return append([]string{"--workers", "32", "--min-workers", "32", "--max-workers", "32", "--file-cache", "none", "--php", "fastcgi", "--perl", "fastcgi"}, more...)
}

func servers2005() []Server {
	loop := []string{"--php", "fastcgi", "--perl", "fastcgi"}
	return []Server{
		{Key: litespeed, Published: "LiteSpeed 2.0 Std and Pro", Variant: "poll", Flags: loop,
			Why: "one process with an event loop, poll as it preferred, small files in memory; Pro has one for each processor, of which a server here has one"},
		{Key: apache20, Published: "Apache 2.0.52 prefork", Variant: "prefork", Flags: pool2005(), Why: "a pool of processes, which open each file again"},
		{Key: apache13, Published: "Apache 1.3.33", Variant: "prefork", Flags: pool2005(), Why: "the same: one architecture"},
		{Key: naive, Published: "LiteSpeed 2.0's epoll dispatcher", Variant: "epoll", Flags: []string{"--epoll-ctl", "naive"}, Why: "the same server but for epoll, told of every change of state as then"},
		{Key: changes, Called: "epoll as today", Variant: "epoll", Why: "told only when what is waited for changes"},
		{Key: tux, Published: "TUX 3.2", Variant: "accel", Why: "complete replies from a cache before anything else, as in TUX, though not in the kernel"},
		{Key: thttpd, Published: "thttpd", Variant: "poll", Flags: []string{"--send", "mmap"}, Why: "an event loop with poll that writes from mappings of files"},
		{Key: boa, Published: "Boa", Variant: "select", Flags: []string{"--send", "mmap"}, Why: "an event loop with select that writes from mappings of files"},
		{Key: mathopd, Published: "Mathopd", Variant: "poll", Flags: []string{"--send", "write"}, Why: "an event loop with poll that reads each file again"},
		{Key: lighttpd5, Published: "lighttpd 1.3.12", Variant: "epoll", Flags: []string{"--epoll-ctl", "naive", "--send", "sendfile"},
			Why: "an event loop with epoll that sends each file by sendfile"},
		{Key: overrides, Changes: apache20, Change: "override files", Variant: "prefork", Flags: pool2005("--override-files", ".htaccess")},
		{Key: lsOver, Changes: litespeed, Change: "override files", Variant: "poll", Flags: append(loop[:len(loop):len(loop)], "--override-files", ".htaccess")},
		{Key: iis6, Published: "IIS 6.0", Variant: "accel", Flags: []string{"--conns-per-addr", "10"}, Limited: true,
			Why: "http.sys, a cache of complete replies, with a bound of ten connections an address"},
		{Key: "apache", Peer: "apache-prefork", Why: "today's"},
		{Key: modules, Called: "apache-prefork itself, PHP and Perl in process", Peer: "apache-prefork", Scripts: InProcess, Why: "today's, with mod_php and mod_perl, as the study's Apache had them"},
		{Key: behind, Called: "apache-prefork itself, PHP and Perl by FastCGI", Peer: "apache-prefork", Scripts: ByFastCGI, Why: "the same server, asking the processes that LiteSpeed's place asks"},
		{Key: "lighttpd", Peer: "lighttpd", Why: "today's, with epoll"},
		{Key: "lighttpd-poll", Peer: "lighttpd-poll", Why: "today's, with poll"},
	}
}

// loads2005 are the study's tests, at the paths that do the same here.
func loads2005() []Load {
	labels := map[string]string{
		"static-close": "100 bytes, a connection each", "static-keepalive": "100 bytes, kept connections", "cgi": "CGI in C", "fastcgi": "FastCGI, 162 bytes",
		"php-hello": "PHP hello", "php-info": "phpinfo()", "perl-hello": "Perl hello, kept",
	}
	paths := map[string]string{"fastcgi": "/fcgi-bin/constant", "perl-hello": "/hello.pl"}
	var all []Load
	for _, r := range table("litespeed-2005-tests") {
		l := Load{Key: r["test"], Label: labels[r["test"]], Path: r["path"], Keepalive: r["keepalive"] == "yes"}
		if path := paths[l.Key]; path != "" {
			l.Path = path
		}
		if r["mechanism"] != "file" {
			l.Dynamic = strings.TrimPrefix(l.Path, "/")
		}
		l.Varies = l.Key == "cgi" || l.Key == "php-info" // they tell the client's port, and the time
		all = append(all, l)
	}
	return all
}

// units2005 are all points, and the 16 of a quick look: the file, CGI and
// FastCGI where the conclusions are about them.
func units2005() (full, quick []Unit) {
	for _, load := range []string{"static-close", "static-keepalive"} {
		for _, clients := range []int{1, 10, clients2005, 100, 300, 1000, 2000} {
			full = append(full, ladder2005(load, clients))
		}
	}
	programs := []string{"cgi", "fastcgi", "php-hello", "php-info", "perl-hello"}
	for _, load := range programs {
		servers := []string{litespeed, apache20}
		if load != "cgi" && load != "fastcgi" {
			servers = append(servers, modules, behind)
		}
		full = append(full, points2(servers, []string{load}, programs2005))
	}
	quick = []Unit{
		points2([]string{litespeed, apache20, tux, iis6}, []string{"static-close"}, clients2005),
		points2([]string{litespeed, apache20, apache13, naive, lighttpd5, thttpd, overrides, tux}, []string{"static-keepalive"}, clients2005),
		points2([]string{litespeed, apache20}, []string{"cgi"}, programs2005),
		points2([]string{litespeed, apache20}, []string{"fastcgi"}, programs2005),
	}
	return full, quick
}

// ladder2005 is one step: the servers that the conclusions are about at each,
// and all of them where they are judged.
func ladder2005(load string, clients int) Unit {
	kept := load == "static-keepalive"
	servers := []string{litespeed, naive, tux}
	if !kept || clients <= clients2005 {
		servers = append(servers, apache20)
	}
	if clients == clients2005 {
		servers = append(servers, apache13, changes, thttpd, boa, mathopd, lighttpd5, overrides, lsOver, "apache", "lighttpd", "lighttpd-poll")
	}
	if !kept && (clients == 10 || clients == clients2005) {
		servers = append(servers, iis6)
	}
	return points2(servers, []string{load}, clients)
}
