game='drm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-pdev:\t0000:03:00.0\ndrm-resident-vram:\t2048 KiB\ndrm-total-vram:\t3 MiB\n'
begun=$(date +%s%N)
for i in 1 2 3 4 5 6 7 8 9 10; do
	ns=$(($(date +%s%N) - begun))
	printf "${game}drm-engine-gfx:\t$((5000000000 + ns / 2)) ns\n" >new
	cp new next && mv next sys/proc/100/fdinfo/3
	cp new next && mv next sys/proc/100/fdinfo/4
	printf "drm-client-id:\t7\ndrm-pdev:\t0000:04:00.0\ndrm-cycles-rcs:\t$((1000 + i * 2500))\ndrm-total-cycles-rcs:\t$((100000 + i * 10000))\n" >new
	mv new sys/proc/103/fdinfo/3
	[ $i != 5 ] || rm -r sys/proc/106
	sleep 0.09
done
echo $((ns / 2)) >grown
