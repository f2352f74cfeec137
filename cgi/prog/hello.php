<?php
// hello answers as the page of LiteSpeed's comparison of 2005 did.
echo 'hello world';
