<?php
if (PHP_SAPI === 'cli') pcntl_exec(PHP_BINARY, ['-S', '127.0.0.1:' . getenv('PORT'), __FILE__]);
// Each request runs this file anew, one at a time.
$calls = (int) @file_get_contents('calls') + 1;
file_put_contents('calls', $calls);
$user = $_SERVER['HTTP_X_ORI_VERIFIED_USER'] ?? 'nobody';
echo "$calls $_SERVER[REQUEST_METHOD] $_SERVER[REQUEST_URI] $user " . file_get_contents('php://input');
