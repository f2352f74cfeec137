# Silicon Surf, a reconstruction
8
40 2
/file2k.html
/file3k.html
25 2
/file1k.html
/file5k.html
15 2
/file4k.html
/file6k.html
5 1
/file7k.html
4 4
/file8k.html
/file9k.html
/file10k.html
/file11k.html
4 3
/file12k.html
/file14k.html
/file15k.html
# the long tail
6 1
/file33k.html
1 1
/file200k.html
