#!/usr/bin/env perl
# perlhost answers FastCGI requests on the listening socket that is its standard
# input, by the Perl script that SCRIPT_FILENAME names: it compiles a script
# once, keeps it, and compiles it again when its file has changed.
#
# A script is one for CGI: it reads %ENV and STDIN and prints to STDOUT. It runs
# as a subroutine in a package of its own, so that its "my" variables are new
# each time and its package variables stay; exit ends the request.

# compile is the first, so that a script sees nothing of what follows.
sub compile { return eval $_[0] }

use strict;
use warnings;
use Time::HiRes ();
use Symbol ();

my $exit;    # what exit dies of, a reference that nothing else is
BEGIN {
	$exit = \'exit';
	*CORE::GLOBAL::exit = sub { die $exit };
}

use constant { BEGIN_REQUEST => 1, ABORT_REQUEST => 2, END_REQUEST => 3, PARAMS => 4, STDIN_ => 5, STDOUT_ => 6,
	GET_VALUES => 9, GET_VALUES_RESULT => 10, UNKNOWN_TYPE => 11 };
use constant { COMPLETE => 0, CANT_MPX => 1, UNKNOWN_ROLE => 3, MOST_PARAMS => 1 << 20 };

my ($conn, $in);    # the connection, and what was read of it and not used
my ($busy, $ending);
my %kept;           # compiled scripts, by file
my %own = %ENV;     # what scripts find beside the request's variables

sub record {
	my ($type, $id, $content) = @_;
	my $padding = -length($content) & 7;
	return pack('CCnnCx', 1, $type, $id, length $content, $padding) . $content . "\0" x $padding;
}

sub send_all {
	my ($bytes) = @_;
	my $at = 0;
	while ($at < length $bytes) {
		my $n = syswrite $conn, $bytes, length($bytes) - $at, $at;
		next if !defined $n && $!{EINTR};
		return 0 if !defined $n;
		$at += $n;
	}
	return 1;
}

sub need {
	my ($n) = @_;
	while (length $in < $n) {
		my $got = sysread $conn, $in, 65536, length $in;
		if (!defined $got && $!{EINTR}) {
			return 0 if $ending && !$busy;
			next;
		}
		return 0 if !$got;
	}
	return 1;
}

# next_record returns type, request and content of a record, nothing at the end.
sub next_record {
	need(8) or return;
	my ($version, $type, $id, $length, $padding) = unpack 'CCnnC', $in;
	return if $version != 1 || !need(8 + $length + $padding);
	my $content = substr $in, 8, $length;
	substr($in, 0, 8 + $length + $padding) = '';
	return ($type, $id, $content);
}

sub pairs {
	my ($bytes) = @_;
	my (%pairs, $at);
	$at = 0;
	while ($at < length $bytes) {
		my @length;
		for (0, 1) {
			my $n = unpack 'C', substr $bytes, $at, 1;
			if (defined $n && $n > 127) {
				$n = unpack('N', substr $bytes, $at, 4);
				$n &= 0x7fffffff if defined $n;
				$at += 3;
			}
			return if !defined $n;
			push @length, $n;
			$at++;
		}
		return if $at + $length[0] + $length[1] > length $bytes;
		$pairs{ substr $bytes, $at, $length[0] } = substr $bytes, $at + $length[0], $length[1];
		$at += $length[0] + $length[1];
	}
	return \%pairs;
}

# manage answers a management record.
sub manage {
	my ($type, $content) = @_;
	return send_all(record(UNKNOWN_TYPE, 0, pack 'Cx7', $type)) if $type != GET_VALUES;
	my %known = (FCGI_MAX_CONNS => 1, FCGI_MAX_REQS => 1, FCGI_MPXS_CONNS => 0);
	my $asked = pairs($content) || {};
	my $reply = join '', map { pack('CC', length, 1) . $_ . $known{$_} } grep { exists $known{$_} } sort keys %$asked;
	return send_all(record(GET_VALUES_RESULT, 0, $reply));
}

# request reads a request; it returns nothing when the connection is at its end.
sub request {
	my ($current, $keep, $params, $body, $ready) = (0, 0, '', '', 0);
	while (my ($type, $id, $content) = next_record()) {
		if ($id == 0) {
			manage($type, $content) or return;
		} elsif ($type == BEGIN_REQUEST) {
			my ($role, $flags) = unpack 'nC', $content;
			my $refused = $current ? CANT_MPX : $role != 1 ? UNKNOWN_ROLE : 0;
			if ($refused) {
				send_all(record(END_REQUEST, $id, pack 'NCx3', 0, $refused)) or return;
				next;
			}
			($busy, $current, $keep) = (1, $id, $flags & 1);
		} elsif ($id != $current) {
			next;    # of a request that has ended
		} elsif ($type == ABORT_REQUEST) {
			return { id => $id, keep => $keep, aborted => 1 };
		} elsif ($type == PARAMS) {
			$params .= $content;
			return if length $params > MOST_PARAMS;
		} elsif ($type == STDIN_) {
			$body .= $content;
			return { id => $id, keep => $keep, variables => pairs($params), body => $body } if $content eq '';
		} else {
			return;
		}
	}
	return;
}

# script returns the code of a file, compiled anew if that has changed.
sub script {
	my ($file) = @_;
	my @stat = Time::HiRes::stat($file) or return;
	my $version = join ' ', @stat[ 0, 1, 7, 9, 10 ];
	my $known = $kept{$file};
	return $known->{code} if $known && $known->{version} eq $version;
	Symbol::delete_package($known->{package}) if $known;
	our $count;
	my $package = 'Script' . ++$count;
	open my $source, '<', $file or return;
	my $text = do { local $/; <$source> };
	$text =~ s/^__(?:END|DATA)__(?:\n.*)?\z//ms;
	my $code = compile("package $package; sub {\n#line 1 \"$file\"\n$text\n}");
	warn $@ if !$code;
	$code ||= sub { print "Status: 500 Internal Server Error\r\nContent-type: text/plain\r\n\r\n500 Internal Server Error\n" };
	$kept{$file} = { code => $code, version => $version, package => $package };
	return $code;
}

# run has a script answer, and returns its status and output.
sub run {
	my ($request) = @_;
	my $file = $request->{variables}{SCRIPT_FILENAME} // '';
	my $code = script($file);
	return (1, "Status: 404 Not Found\r\nContent-type: text/plain\r\n\r\n404 Not Found\n") if !$code;
	my ($status, $output) = (0, '');
	local %ENV = (%own, %{ $request->{variables} });
	local $0 = $file;
	chdir $1 if $file =~ m{^(.*)/};
	{
		local (*STDIN, *STDOUT);
		open STDIN, '<', \$request->{body} or die $!;
		open STDOUT, '>', \$output or die $!;
		my $before = select STDOUT;
		local $| = 0;
		if (!eval { $code->(); 1 } && !(ref $@ && $@ == $exit)) {
			warn $@;
			$status = 1;
		}
		select $before;
		close STDOUT;
	}
	$output = "Status: 500 Internal Server Error\r\nContent-type: text/plain\r\n\r\n500 Internal Server Error\n" if $status && $output eq '';
	return ($status, $output);
}

sub serve {
	$in = '';
	while (my $request = request()) {
		my ($status, $output) = (1, '');
		($status, $output) = run($request) if $request->{variables};
		my ($reply, $id) = ('', $request->{id});
		for (my $at = 0; $at < length $output; $at += 65528) {
			$reply .= record(STDOUT_, $id, substr $output, $at, 65528);
		}
		send_all($reply . record(STDOUT_, $id, '') . record(END_REQUEST, $id, pack 'NCx3', $status, COMPLETE)) or return;
		$busy = 0;
		return if !$request->{keep} || $ending;
	}
}

sub main {
	$SIG{PIPE} = 'IGNORE';
	$SIG{TERM} = sub { $ending = 1; CORE::exit(0) if !$busy };
	open my $listener, '+<&', \*STDIN or die "standard input: $!";
	until ($ending) {
		$busy = 0;
		if (accept $conn, $listener) {
			binmode $conn;
			serve();
			close $conn;
		} elsif (!$!{EINTR} && !$!{ECONNABORTED}) {
			die "accept: $!";
		}
	}
}

main();
