# SPDX-License-Identifier: MIT
# Draws results.dat as four panels of bars. bench/plot gives the terminal, the output and `data`.

ink = "#2d3748"; grid = "#e2e8f0"
ours = 0x2b6cb0; pale = 0x90cdf4; peer = 0xa0aec0; peer_pale = 0xdde3ea

is_ours(label) = label[1:8] eq "turncast"
strong(label) = is_ours(label) ? ours : peer
weak(label) = is_ours(label) ? pale : peer_pale
say(x) = x >= 1000 ? sprintf("%.0f,%03.0f", floor(x / 1000), x - 1000 * floor(x / 1000)) : \
         x >= 100 ? sprintf("%.0f", x) : x >= 10 ? sprintf("%.1f", x) : sprintf("%.2f", x)

set style fill solid 1 noborder
set border 0
set tics scale 0 textcolor rgb ink
set ytics noenhanced
set grid xtics lt 1 lc rgb grid
set title textcolor rgb ink offset 0, -0.4
set key off
set multiplot

# The first row of a block is on top: row n at height -n.
set macros
span = "(-$0 - 0.34):(-$0 + 0.34)"

# ---- reading ----
set lmargin at screen 0.15; set rmargin at screen 0.47
set tmargin at screen 0.925; set bmargin at screen 0.585
set title "{/:Bold Reading an agent's stream: MB/s of one core}"
set xrange [0:*]; set yrange [*:*]; set offsets 0, 0, 0.2, 0.2
stats data index "reading" using 2 nooutput
set xrange [0:STATS_max * 1.18]
set xtics STATS_max > 1000 ? 500 : 100
plot data index "reading" using (0):(-$0):(0):2:@span:(strong(strcol(1))):ytic(1) \
         with boxxyerror lc rgb variable, \
     '' index "reading" using 2:(-$0):(say($2)) with labels left offset 0.6, 0 tc rgb ink

# ---- casting ----
set lmargin at screen 0.605; set rmargin at screen 0.975
set title "{/:Bold A whole replay to connectors: µs of CPU a line}"
stats data index "casting process" using 2 nooutput
set xrange [0:STATS_max * 1.3]
set xtics autofreq
plot data index "casting thread" using (0):(-$0):(0):2:(-$0 + 0.02):(-$0 + 0.36):ytic(1) \
         with boxxyerror lc rgb ours, \
     '' index "casting thread" using 2:(-$0 + 0.19):(sprintf("%s thread", say($2))) \
         with labels left offset 0.6, 0 tc rgb ink, \
     '' index "casting process" using (0):(-$0):(0):2:(-$0 - 0.36):(-$0 - 0.02) \
         with boxxyerror lc rgb pale, \
     '' index "casting process" using 2:(-$0 - 0.19):(sprintf("%s process", say($2))) \
         with labels left offset 0.6, 0 tc rgb ink

# ---- latency ----
set lmargin at screen 0.235; set rmargin at screen 0.47
set tmargin at screen 0.425; set bmargin at screen 0.085
set title "{/:Bold Agent's write to callback, a line a ms: µs, p50 and p99}" offset -6, -0.4
stats data index "latency 1000" using 3 nooutput
set logscale x
set xrange [1:STATS_max * 8]
plot data index "latency 1000" using (1):(-$0):(1):3:@span:(weak(strcol(1))):ytic(1) \
         with boxxyerror lc rgb variable, \
     '' index "latency 1000" using (1):(-$0):(1):2:@span:(strong(strcol(1))) \
         with boxxyerror lc rgb variable, \
     '' index "latency 1000" using 3:(-$0):(sprintf("%s, %s", say($2), say($3))) \
         with labels left offset 0.6, 0 tc rgb ink
unset logscale x

# ---- many agents ----
set lmargin at screen 0.64; set rmargin at screen 0.975
set title "{/:Bold Many agents: µs of CPU a line}" offset 0, -0.4
stats data index "many" using 2 nooutput
set xrange [0:STATS_max * 1.3]
plot data index "many" using (0):(-$0):(0):2:(-$0 + 0.02):(-$0 + 0.36):ytic(1) \
         with boxxyerror lc rgb ours, \
     '' index "many" using 2:(-$0 + 0.19):(sprintf("%s turncast", say($2))) \
         with labels left offset 0.6, 0 tc rgb ink, \
     '' index "many" using (0):(-$0):(0):3:(-$0 - 0.36):(-$0 - 0.02) with boxxyerror lc rgb peer, \
     '' index "many" using 3:(-$0 - 0.19):(sprintf("%s only reading", say($3))) \
         with labels left offset 0.6, 0 tc rgb ink

unset multiplot
