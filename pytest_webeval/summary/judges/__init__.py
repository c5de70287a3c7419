"""How far judges agree with people and with themselves."""
