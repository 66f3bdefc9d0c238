graph [ directed 1 node [ id 0 label "&#233;&quot;&#x41;&lt;" ] node [ id 1 label "é
" ] edge [ source 0 target 1 ] edge [ source 0 target 1 ] ]