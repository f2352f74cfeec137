#!/usr/bin/env perl
# send answers with exactly ?size=N bytes, A to Z again and again; 10,240
# without a size, at most 16 MiB.
my ($size) = map { /^size=(.*)/s ? $1 : () } split /&/, $ENV{QUERY_STRING} // '';
$size = 10240 if !defined $size;
if ($size !~ /^[0-9]+$/ || $size > 16 << 20) {
	print "Status: 400 Bad Request\r\nContent-type: text/plain; charset=utf-8\r\n\r\n400 Bad Request\n";
	exit;
}
$size += 0;
print "Content-type: text/plain\r\nContent-Length: $size\r\n\r\n";
my $pattern = join('', 'A' .. 'Z') x 2520;
for (my $left = $size; $left > 0; $left -= length $pattern) {
	print $left < length $pattern ? substr $pattern, 0, $left : $pattern;
}
