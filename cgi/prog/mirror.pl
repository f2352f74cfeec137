#!/usr/bin/env perl
# mirror answers with the request's body, of the request's type.
my $left = $ENV{CONTENT_LENGTH} || 0;
my $type = length($ENV{CONTENT_TYPE} // '') ? $ENV{CONTENT_TYPE} : 'application/octet-stream';
binmode STDIN;
binmode STDOUT;
print "Content-type: $type\r\nContent-Length: $left\r\n\r\n";
while ($left > 0) {
	my $n = read STDIN, my $part, $left < 65536 ? $left : 65536;
	last if !$n;
	print $part;
	$left -= $n;
}
