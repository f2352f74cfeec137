<?php
// phpinfo tells all about the interpreter: tens of kilobytes, whose length varies.
phpinfo();
