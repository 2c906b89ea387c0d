<?php
return [
    "default" => "sqlite",
    "connections" => ["sqlite" => ["driver" => "sqlite", "database" => base_path("notes.sqlite"), "prefix" => ""]],
];
